// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/error.h"

namespace epi {

void check_failed(const char* condition, const char* file, int line) {
  throw BugError(fmt::format("bug in epilogue: {}:{}: check failed: {}", file, line, condition));
}

}  // namespace epi
