/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: any bytes as what an RDMA device puts into a receive: a header of some network, and a
 * datagram. Who sent it is what stands in that header, or nobody.
 */
/* Test: quick 2; default 5; all 60 */
#include "multicast/transport/verbs_origin.h"
#include "multicast/wire/datagram.h"
#include "tests/fuzz/input.h"

#define IPV4_SOURCE 32
#define IPV6_SOURCE 8

static const uint8_t nobody[16];
static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    oc_datagram_t datagram;
    oc_origin_t origin;

    if (size < OC_VERBS_GRH) {
        return 0;
    }
    origin = oc_verbs_origin(data, size);
    check(0 == origin.port);
    if (0 != memcmp(origin.address, nobody, sizeof(nobody))
        && 0 != memcmp(origin.address, data + IPV6_SOURCE, sizeof(origin.address))) {
        check(0 == memcmp(origin.address, mapped, sizeof(mapped))
              && 0 == memcmp(origin.address + 12, data + IPV4_SOURCE, 4));
        /* the length that the network's header tells has room for what has come */
        check(((size_t) data[22] << 8 | data[23]) > size - OC_VERBS_GRH);
    }
    if (oc_datagram_decode(data + OC_VERBS_GRH, size - OC_VERBS_GRH, &datagram)) {
        check(datagram.length + (size_t) OC_DATAGRAM_HEADER + OC_VERBS_GRH == size);
    }
    return 0;
}
