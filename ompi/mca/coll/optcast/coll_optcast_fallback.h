/* SPDX-License-Identifier: BSD-3-Clause */
/* The reasons for which an operation goes to the previous module. */
#ifndef MCA_COLL_OPTCAST_FALLBACK_H
#define MCA_COLL_OPTCAST_FALLBACK_H

/* Why an operation went to the previous module. */
typedef enum {
    OC_FALLBACK_NONE,
    OC_FALLBACK_OP,     /* user-defined, or not offered for this type */
    OC_FALLBACK_TYPE,   /* not a type that is offered */
    OC_FALLBACK_RANKS,  /* more ranks than max_ranks */
    OC_FALLBACK_SIZE,   /* mode auto, and faster without us, or nothing at all */
    OC_FALLBACK_PLACE,  /* mode auto, and nothing is gained between these ranks */
    OC_FALLBACK_SETUP,  /* the communicator has no service */
    OC_FALLBACK_ORDER,  /* what Open MPI itself does inside progress: see decide */
    OC_FALLBACK_END
} oc_fallback_t;

#endif
