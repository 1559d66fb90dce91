// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cpu/loops/tables.h"

namespace epi::cpu::EPI_ISA {

void fill(Loops& table) {
  fill_pointwise(table);
  fill_convert(table);
  fill_rows(table);
  fill_gemv(table);
  fill_int8(table);
#if defined(__aarch64__)
  fill_gemv_fmlal(table);
#endif
}

}  // namespace epi::cpu::EPI_ISA
