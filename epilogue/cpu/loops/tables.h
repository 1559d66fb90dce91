// SPDX-License-Identifier: Apache-2.0
// Each file of loops fills its part of the table, once for each instruction set.
#pragma once

#include "epilogue/cpu/loops/loops.h"

namespace epi::cpu::EPI_ISA {

void fill_pointwise(Loops& table);
void fill_convert(Loops& table);
void fill_rows(Loops& table);
void fill_gemv(Loops& table);
void fill(Loops& table);

}  // namespace epi::cpu::EPI_ISA
