// SPDX-License-Identifier: Apache-2.0
// The word that names a GEMM's instruction, in cuBLAS's older names and in CUTLASS's: "s16816gemm",
// "sgemm", "h884gemm", "s1688tf32gemm", "s884cudnn".
#pragma once

#include <optional>
#include <string_view>

#include "epilogue/analysis/names/decoded_name.h"

namespace epi::analysis::names {

struct Instruction {
  NumberType accumulate = NumberType::kUnknown;
  NumberType type = NumberType::kUnknown;  // what is multiplied, where the word says so
  Kind kind = Kind::kGemm;
  bool tensor_cores = false;
};

// None where the word is no instruction.
std::optional<Instruction> read_instruction(std::string_view word);

}  // namespace epi::analysis::names
