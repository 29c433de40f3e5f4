/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the kernels of integers, float and double; a part of kernels.inc.h. */

/*
 * One step of the fold. T is the element type. W is where arithmetic happens: an unsigned type
 * no narrower than int, so that neither signed overflow nor the promotion of uint16_t to int is
 * ever undefined; the conversion back to T wraps. For floats W is T itself.
 */
#define OC_STEP_SUM(T, W, a, b) ((T)((W)(a) + (W)(b)))
#define OC_STEP_PROD(T, W, a, b) ((T)((W)(a) * (W)(b)))
#define OC_STEP_MIN(T, W, a, b) ((a) < (b) ? (a) : (b))
#define OC_STEP_MAX(T, W, a, b) ((a) > (b) ? (a) : (b))
#define OC_STEP_BAND(T, W, a, b) ((T)((W)(a) & (W)(b)))
#define OC_STEP_BOR(T, W, a, b) ((T)((W)(a) | (W)(b)))
#define OC_STEP_BXOR(T, W, a, b) ((T)((W)(a) ^ (W)(b)))
/* Bitwise on purpose: a short circuit would be a branch per element. */
#define OC_STEP_LAND(T, W, a, b) ((T)(((a) != 0) & ((b) != 0)))
#define OC_STEP_LOR(T, W, a, b) ((T)(((a) != 0) | ((b) != 0)))
#define OC_STEP_LXOR(T, W, a, b) ((T)(((a) != 0) ^ ((b) != 0)))

/* X(OP, TYPE, T, W) for every operation of one type. */
#define OC_ARITHMETIC(X, TYPE, T, W) \
    X(SUM, TYPE, T, W)               \
    X(PROD, TYPE, T, W)              \
    X(MIN, TYPE, T, W)               \
    X(MAX, TYPE, T, W)
#define OC_INTEGER(X, TYPE, T, W)   \
    OC_ARITHMETIC(X, TYPE, T, W)    \
    X(BAND, TYPE, T, W)             \
    X(BOR, TYPE, T, W)              \
    X(BXOR, TYPE, T, W)             \
    X(LAND, TYPE, T, W)             \
    X(LOR, TYPE, T, W)              \
    X(LXOR, TYPE, T, W)

/* X(OP, TYPE, T, W) for every kernel. */
#define OC_SCALAR_KERNELS(X)                  \
    OC_INTEGER(X, INT8, int8_t, uint32_t)     \
    OC_INTEGER(X, UINT8, uint8_t, uint32_t)   \
    OC_INTEGER(X, INT16, int16_t, uint32_t)   \
    OC_INTEGER(X, UINT16, uint16_t, uint32_t) \
    OC_INTEGER(X, INT32, int32_t, uint32_t)   \
    OC_INTEGER(X, UINT32, uint32_t, uint32_t) \
    OC_INTEGER(X, INT64, int64_t, uint64_t)   \
    OC_INTEGER(X, UINT64, uint64_t, uint64_t) \
    OC_ARITHMETIC(X, FLOAT, float, float)     \
    OC_ARITHMETIC(X, DOUBLE, double, double)

/* buf_*: an element as found in a caller's buffer, at any address. */
#define OC_DEFINE_SCALAR_TYPE(TYPE, T)                                            \
    typedef T buf_##TYPE##_t __attribute__((aligned(1), may_alias));              \
    enum { size_##TYPE = sizeof(T), block_##TYPE = OC_BLOCK_BYTES / sizeof(T) };  \
    typedef struct {                                                              \
        T value[block_##TYPE];                                                    \
    } acc_##TYPE##_t;                                                             \
    OC_INLINE void load_##TYPE(acc_##TYPE##_t *acc, const void *from, size_t n)   \
    {                                                                             \
        const buf_##TYPE##_t *in = from;                                          \
        for (size_t i = 0; i < n; i++)                                            \
            acc->value[i] = in[i];                                                \
    }                                                                             \
    OC_INLINE void store_##TYPE(void *to, const acc_##TYPE##_t *acc, size_t n)    \
    {                                                                             \
        buf_##TYPE##_t *out = to;                                                 \
        for (size_t i = 0; i < n; i++)                                            \
            out[i] = acc->value[i];                                               \
    }                                                                             \
    OC_INLINE void copy_##TYPE(acc_##TYPE##_t *to, const acc_##TYPE##_t *from)    \
    {                                                                             \
        for (size_t i = 0; i < block_##TYPE; i++)                                 \
            to->value[i] = from->value[i];                                        \
    }

#define OC_DEFINE_SCALAR_KERNEL(OP, TYPE, T, W)                                        \
    OC_INLINE void step_##OP##_##TYPE(acc_##TYPE##_t *acc, const void *from, size_t n) \
    {                                                                                  \
        const buf_##TYPE##_t *in = from;                                               \
        for (size_t i = 0; i < n; i++) {                                               \
            const T a = acc->value[i], b = in[i];                                      \
            acc->value[i] = OC_STEP_##OP(T, W, a, b);                                  \
        }                                                                              \
    }                                                                                  \
    OC_DEFINE_KERNEL(OP, TYPE)

OC_DEFINE_SCALAR_TYPE(INT8, int8_t)
OC_DEFINE_SCALAR_TYPE(UINT8, uint8_t)
OC_DEFINE_SCALAR_TYPE(INT16, int16_t)
OC_DEFINE_SCALAR_TYPE(UINT16, uint16_t)
OC_DEFINE_SCALAR_TYPE(INT32, int32_t)
OC_DEFINE_SCALAR_TYPE(UINT32, uint32_t)
OC_DEFINE_SCALAR_TYPE(INT64, int64_t)
OC_DEFINE_SCALAR_TYPE(UINT64, uint64_t)
OC_DEFINE_SCALAR_TYPE(FLOAT, float)
OC_DEFINE_SCALAR_TYPE(DOUBLE, double)

OC_SCALAR_KERNELS(OC_DEFINE_SCALAR_KERNEL)
