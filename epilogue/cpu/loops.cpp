// SPDX-License-Identifier: Apache-2.0
// Selects the loops for the instruction set of this CPU.
#include "epilogue/cpu/loops/loops.h"

#include "epilogue/base/machine.h"

namespace epi::cpu {

namespace baseline {
void fill(Loops& table);
}
#if defined(__x86_64__)
namespace avx2 {
void fill(Loops& table);
}
namespace avx512 {
void fill(Loops& table);
}
#endif

namespace {

Loops make_loops() {
  Loops table{};
  switch (cpu_isa()) {
#if defined(__x86_64__)
    case Isa::kAvx512:
      avx512::fill(table);
      break;
    case Isa::kAvx2:
      avx2::fill(table);
      break;
#endif
    default:
      baseline::fill(table);
      break;
  }
  return table;
}

}  // namespace

const Loops& loops() {
  static const Loops table = make_loops();
  return table;
}

}  // namespace epi::cpu
