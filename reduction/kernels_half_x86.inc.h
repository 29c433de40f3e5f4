/* SPDX-License-Identifier: BSD-3-Clause */
/* Owns conversions of 16-bit floats with x86 vectors; a part of kernels_half.inc.h. */

/*
 * One vector of numbers each. The instructions round to nearest whatever MXCSR says, and give the
 * bits of the portable code, but for the payload of NaNs.
 */
#include <immintrin.h>

#ifdef __AVX512F__

enum { vector_FLOAT16 = 16, vector_BFLOAT16 = 16 };

OC_INLINE void widen_vector_FLOAT16(float *to, const buf_half_t *from)
{
    _mm512_storeu_ps(to, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)from)));
}

OC_INLINE void widen_vector_BFLOAT16(float *to, const buf_half_t *from)
{
    const __m512i bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)from));

    _mm512_storeu_ps(to, _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16)));
}

OC_INLINE void narrow_vector_FLOAT16(buf_half_t *to, const float *from)
{
    _mm256_storeu_si256((void *)to,
                        _mm512_cvtps_ph(_mm512_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
}

OC_INLINE void narrow_vector_BFLOAT16(buf_half_t *to, const float *from)
{
    const __m512 value = _mm512_loadu_ps(from);
    const __m512i bits = _mm512_castps_si512(value), upper = _mm512_srli_epi32(bits, 16);
    const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
    const __m512i sum = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __m512i quiet = _mm512_or_si512(upper, _mm512_set1_epi32(0x40));
    const __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    const __m512i half = _mm512_mask_mov_epi32(_mm512_srli_epi32(sum, 16), nan, quiet);

    _mm256_storeu_si256((void *)to, _mm512_cvtepi32_epi16(half));
}

#else

enum { vector_FLOAT16 = 8, vector_BFLOAT16 = 16 };

OC_INLINE void widen_vector_FLOAT16(float *to, const buf_half_t *from)
{
    _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128((const void *)from)));
}

/*
 * Numbers with even indexes, then those with odd ones: in this order each is a shift or a mask away
 * from its float, and nothing has to cross the halves of a vector.
 */
OC_INLINE void widen_vector_BFLOAT16(float *to, const buf_half_t *from)
{
    const __m256i halves = _mm256_loadu_si256((const void *)from);
    const __m256i odd = _mm256_and_si256(halves, _mm256_set1_epi32((int)0xffff0000));

    _mm256_storeu_ps(to, _mm256_castsi256_ps(_mm256_slli_epi32(halves, 16)));
    _mm256_storeu_ps(to + 8, _mm256_castsi256_ps(odd));
}

OC_INLINE void narrow_vector_FLOAT16(buf_half_t *to, const float *from)
{
    _mm_storeu_si128((void *)to,
                     _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
}

/* The result is the upper half of each number; the lower half is arbitrary. */
OC_INLINE __m256i rounded_BFLOAT16(__m256 value)
{
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i sum = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));

    return _mm256_blendv_epi8(sum, quiet, nan);
}

OC_INLINE void narrow_vector_BFLOAT16(buf_half_t *to, const float *from)
{
    const __m256i even = _mm256_srli_epi32(rounded_BFLOAT16(_mm256_loadu_ps(from)), 16);
    const __m256i odd = rounded_BFLOAT16(_mm256_loadu_ps(from + 8));

    _mm256_storeu_si256((void *)to, _mm256_blend_epi16(even, odd, 0xaa));
}

#endif
