/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the kernels of pairs, MINLOC and MAXLOC; a part of kernels.inc.h. */

/* Whether the pair a is taken, and not b. Bitwise on purpose: a short circuit would be a branch. */
#define OC_TAKE_MINLOC(av, ai, bv, bi) (((av) < (bv)) | (((av) == (bv)) & ((ai) < (bi))))
#define OC_TAKE_MAXLOC(av, ai, bv, bi) (((av) > (bv)) | (((av) == (bv)) & ((ai) < (bi))))

/* X(OP, TYPE, V, I) for every pair of a value V and an index I. */
#define OC_PAIR_KERNELS_OF(X, OP)        \
    X(OP, INT16_INT32, int16_t, int32_t) \
    X(OP, INT32_INT32, int32_t, int32_t) \
    X(OP, INT64_INT32, int64_t, int32_t) \
    X(OP, FLOAT_INT32, float, int32_t)   \
    X(OP, DOUBLE_INT32, double, int32_t) \
    X(OP, FLOAT_FLOAT, float, float)     \
    X(OP, DOUBLE_DOUBLE, double, double)

/* ... for every kernel. */
#define OC_PAIR_KERNELS(X) OC_PAIR_KERNELS_OF(X, MINLOC) OC_PAIR_KERNELS_OF(X, MAXLOC)

/*
 * Blocks are powers of two, so that the rows of values and of indexes are whole vectors: a pair of
 * 6 bytes counts as 8, one of 12 as 16. gcc 12 vectorizes where both parts have one size.
 */
#define OC_DEFINE_PAIR_TYPE(TYPE, V, I)                                                          \
    typedef struct {                                                                             \
        V value;                                                                                 \
        I index;                                                                                 \
    } __attribute__((packed, may_alias)) buf_##TYPE##_t;                                         \
    enum {                                                                                       \
        size_##TYPE = sizeof(buf_##TYPE##_t),                                                    \
        block_##TYPE = OC_BLOCK_BYTES / (size_##TYPE > 8 ? 16 : 8)                               \
    };                                                                                           \
    typedef struct {                                                                             \
        V value[block_##TYPE];                                                                   \
        I index[block_##TYPE];                                                                   \
    } acc_##TYPE##_t;                                                                            \
    OC_INLINE void load_##TYPE(acc_##TYPE##_t *acc, const void *from, size_t n)                  \
    {                                                                                            \
        const buf_##TYPE##_t *in = from;                                                         \
        for (size_t i = 0; i < n; i++) {                                                         \
            acc->value[i] = in[i].value;                                                         \
            acc->index[i] = in[i].index;                                                         \
        }                                                                                        \
    }                                                                                            \
    OC_INLINE void store_##TYPE(void *to, const acc_##TYPE##_t *acc, size_t n)                   \
    {                                                                                            \
        buf_##TYPE##_t *out = to;                                                                \
        for (size_t i = 0; i < n; i++) {                                                         \
            out[i].value = acc->value[i];                                                        \
            out[i].index = acc->index[i];                                                        \
        }                                                                                        \
    }                                                                                            \
    OC_INLINE void copy_##TYPE(acc_##TYPE##_t *to, const acc_##TYPE##_t *from)                   \
    {                                                                                            \
        for (size_t i = 0; i < block_##TYPE; i++) {                                              \
            to->value[i] = from->value[i];                                                       \
            to->index[i] = from->index[i];                                                       \
        }                                                                                        \
    }

#define OC_DEFINE_PAIR_KERNEL(OP, TYPE, V, I)                                                    \
    OC_INLINE void step_##OP##_##TYPE(acc_##TYPE##_t *acc, const void *from, size_t n)           \
    {                                                                                            \
        const buf_##TYPE##_t *in = from;                                                         \
        for (size_t i = 0; i < n; i++) {                                                         \
            const V av = acc->value[i], bv = in[i].value;                                        \
            const I ai = acc->index[i], bi = in[i].index;                                        \
            const int take = OC_TAKE_##OP(av, ai, bv, bi);                                       \
            acc->value[i] = take ? av : bv;                                                      \
            acc->index[i] = take ? ai : bi;                                                      \
        }                                                                                        \
    }                                                                                            \
    OC_DEFINE_KERNEL(OP, TYPE)

OC_DEFINE_PAIR_TYPE(INT16_INT32, int16_t, int32_t)
OC_DEFINE_PAIR_TYPE(INT32_INT32, int32_t, int32_t)
OC_DEFINE_PAIR_TYPE(INT64_INT32, int64_t, int32_t)
OC_DEFINE_PAIR_TYPE(FLOAT_INT32, float, int32_t)
OC_DEFINE_PAIR_TYPE(DOUBLE_INT32, double, int32_t)
OC_DEFINE_PAIR_TYPE(FLOAT_FLOAT, float, float)
OC_DEFINE_PAIR_TYPE(DOUBLE_DOUBLE, double, double)

OC_PAIR_KERNELS(OC_DEFINE_PAIR_KERNEL)
