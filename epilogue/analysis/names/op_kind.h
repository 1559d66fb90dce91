// SPDX-License-Identifier: Apache-2.0
// The kind of kernel that an operator runs: for kernels whose names do not give their kind.
#pragma once

#include <string_view>

#include "epilogue/analysis/names/decoded_name.h"

namespace epi::analysis {

// kUnknown for operators that run kernels of several kinds.
Kind kind_of_op(std::string_view op);

}  // namespace epi::analysis
