// SPDX-License-Identifier: Apache-2.0
// The inputs of an operator call, packed into words when it begins and written as text later:
// copying a shape takes nanoseconds, formatting it does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "epilogue/ops/args.h"

namespace epi::profile {

// How many words `pack_inputs` writes.
size_t packed_words(Args args);
void pack_inputs(Args args, int64_t* words);

// The members of Kineto's `args` object that tell of inputs, in braces:
// {"Concrete Inputs": ["", "0"], "Input type": [...], "Input Strides": [...], "Input Dims": [...]}
std::string inputs_json(std::span<const int64_t> words);

}  // namespace epi::profile
