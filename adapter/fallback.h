/* SPDX-License-Identifier: BSD-3-Clause */
/* The reasons for which an operation is left to the MPI library. */
#ifndef OC_ADAPTER_FALLBACK_H
#define OC_ADAPTER_FALLBACK_H

typedef enum {
    OC_FALLBACK_NONE,
    OC_FALLBACK_OP,     /* user-defined, or not offered for this type */
    OC_FALLBACK_TYPE,   /* not a type that is offered */
    OC_FALLBACK_RANKS,  /* more ranks than max_ranks */
    OC_FALLBACK_SIZE,   /* mode auto, and faster without us, or nothing at all */
    OC_FALLBACK_PLACE,  /* mode auto, and nothing is gained between these ranks */
    OC_FALLBACK_SETUP,  /* the communicator has no service */
    OC_FALLBACK_ORDER,  /* ranks may issue it in different orders, or before there is a service */
    OC_FALLBACK_END
} oc_fallback_t;

/* "falls back: size"; of OC_FALLBACK_NONE "is offloaded". */
const char *oc_fallback_text(oc_fallback_t reason);

#endif
