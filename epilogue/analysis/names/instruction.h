// SPDX-License-Identifier: Apache-2.0
// Parses the word for a GEMM's instruction in CUTLASS names and in older cuBLAS names:
// "s16816gemm", "sgemm", "h884gemm", "s1688tf32gemm", "s884cudnn".
#pragma once

#include <optional>
#include <string_view>

#include "epilogue/analysis/names/decoded_name.h"

namespace epi::analysis::names {

struct Instruction {
  NumberType accumulate = NumberType::kUnknown;
  NumberType type = NumberType::kUnknown;  // of the operands, if the word gives it
  Kind kind = Kind::kGemm;
  bool tensor_cores = false;
};

// None if the word is not an instruction.
std::optional<Instruction> read_instruction(std::string_view word);

}  // namespace epi::analysis::names
