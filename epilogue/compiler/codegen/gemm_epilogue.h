// SPDX-License-Identifier: Apache-2.0
// The end of a GEMM: the group's program on sums that are in registers, and the stores.
#pragma once

#include <span>

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

// Loads the addresses of outputs and operands from %args into %other0, %other1, ...
void emit_addresses(IrWriter& out, const GemmCode& code);

// Applies the program at [row, column ...] to one vector of sums of each GEMM; `row` and
// `column` are i64 values. Columns past n are left alone.
void emit_epilogue(IrWriter& out, const GemmCode& code, const Target& target,
                   std::span<const IrValue> sums, const IrValue& row, const IrValue& column,
                   bool may_pass_end);

}  // namespace epi::compiler
