/* SPDX-License-Identifier: BSD-3-Clause */
/* VZEROUPPER, where there is one. */
#include "base/registers.h"

#ifdef __x86_64__

__attribute__((target("avx"))) static void clear_upper_halves(void)
{
    __builtin_ia32_vzeroupper();
}

void oc_registers_clean(void)
{
    if (__builtin_cpu_supports("avx")) {
        clear_upper_halves();
    }
}

#else

void oc_registers_clean(void)
{
}

#endif
