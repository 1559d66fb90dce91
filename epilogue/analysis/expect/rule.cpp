// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/expect/rule.h"

namespace epi::analysis {

bool holds(Cmp cmp, double found, double wanted) {
  switch (cmp) {
    case Cmp::kEqual:
      return found == wanted;
    case Cmp::kNotEqual:
      return found != wanted;
    case Cmp::kLess:
      return found < wanted;
    case Cmp::kLessOrEqual:
      return found <= wanted;
    case Cmp::kMore:
      return found > wanted;
    case Cmp::kMoreOrEqual:
      return found >= wanted;
  }
  return false;
}

}  // namespace epi::analysis
