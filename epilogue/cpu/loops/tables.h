// SPDX-License-Identifier: Apache-2.0
// Each loop file fills its part of the table, once per instruction set.
#pragma once

#include "epilogue/cpu/loops/loops.h"

namespace epi::cpu::EPI_ISA {

void fill_pointwise(Loops& table);
void fill_convert(Loops& table);
void fill_rows(Loops& table);
void fill_gemv(Loops& table);
void fill_gemv_fmlal(Loops& table);  // after fill_gemv, on AArch64
void fill_int8(Loops& table);
void fill(Loops& table);

}  // namespace epi::cpu::EPI_ISA
