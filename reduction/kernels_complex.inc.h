/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns the kernels of complex numbers; a part of kernels.inc.h. */

/* X(OP, TYPE, T, PART) for every kernel: two T in a row, which by themselves are of type PART. */
#define OC_COMPLEX_SUMS(X)                 \
    X(SUM, COMPLEX_FLOAT, float, FLOAT)    \
    X(SUM, COMPLEX_DOUBLE, double, DOUBLE)
#define OC_COMPLEX_PRODS(X)                 \
    X(PROD, COMPLEX_FLOAT, float, FLOAT)    \
    X(PROD, COMPLEX_DOUBLE, double, DOUBLE)
#define OC_COMPLEX_KERNELS(X) OC_COMPLEX_SUMS(X) OC_COMPLEX_PRODS(X)

/* Parts add up independently. */
#define OC_DEFINE_COMPLEX_SUM(OP, TYPE, T, PART)                                        \
    static void reduce_##OP##_##TYPE(void *dst, const void *const *src, size_t num_src, \
                                     size_t count)                                      \
    {                                                                                   \
        reduce_##OP##_##PART(dst, src, num_src, 2 * count);                             \
    }

#define OC_DEFINE_COMPLEX_TYPE(TYPE, T)                                                       \
    typedef T buf_##TYPE##_t __attribute__((aligned(1), may_alias));                          \
    enum { size_##TYPE = 2 * sizeof(T), block_##TYPE = OC_BLOCK_BYTES / (2 * sizeof(T)) };    \
    typedef struct {                                                                          \
        T real[block_##TYPE], imaginary[block_##TYPE];                                        \
    } acc_##TYPE##_t;                                                                         \
    OC_INLINE void load_##TYPE(acc_##TYPE##_t *acc, const void *from, size_t n)               \
    {                                                                                         \
        const buf_##TYPE##_t *in = from;                                                      \
        for (size_t i = 0; i < n; i++) {                                                      \
            acc->real[i] = in[2 * i];                                                         \
            acc->imaginary[i] = in[2 * i + 1];                                                \
        }                                                                                     \
    }                                                                                         \
    OC_INLINE void store_##TYPE(void *to, const acc_##TYPE##_t *acc, size_t n)                \
    {                                                                                         \
        buf_##TYPE##_t *out = to;                                                             \
        for (size_t i = 0; i < n; i++) {                                                      \
            out[2 * i] = acc->real[i];                                                        \
            out[2 * i + 1] = acc->imaginary[i];                                               \
        }                                                                                     \
    }                                                                                         \
    OC_INLINE void copy_##TYPE(acc_##TYPE##_t *to, const acc_##TYPE##_t *from)                \
    {                                                                                         \
        for (size_t i = 0; i < block_##TYPE; i++) {                                           \
            to->real[i] = from->real[i];                                                      \
            to->imaginary[i] = from->imaginary[i];                                            \
        }                                                                                     \
    }

#define OC_DEFINE_COMPLEX_PROD(OP, TYPE, T, PART)                                             \
    OC_INLINE void step_##OP##_##TYPE(acc_##TYPE##_t *acc, const void *from, size_t n)        \
    {                                                                                         \
        const buf_##TYPE##_t *in = from;                                                      \
        for (size_t i = 0; i < n; i++) {                                                      \
            const T ar = acc->real[i], ai = acc->imaginary[i];                                \
            const T br = in[2 * i], bi = in[2 * i + 1];                                       \
            acc->real[i] = ar * br - ai * bi;                                                 \
            acc->imaginary[i] = ar * bi + ai * br;                                            \
        }                                                                                     \
    }                                                                                         \
    OC_DEFINE_KERNEL(OP, TYPE)

OC_COMPLEX_SUMS(OC_DEFINE_COMPLEX_SUM)

OC_DEFINE_COMPLEX_TYPE(COMPLEX_FLOAT, float)
OC_DEFINE_COMPLEX_TYPE(COMPLEX_DOUBLE, double)
OC_COMPLEX_PRODS(OC_DEFINE_COMPLEX_PROD)
