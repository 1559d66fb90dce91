// SPDX-License-Identifier: Apache-2.0
// Packs the inputs of an operator call into words when it starts and formats them as text later.
// Copying a shape takes nanoseconds; formatting it takes longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "epilogue/ops/args.h"

namespace epi::profile {

// The number of words that `pack_inputs` writes.
size_t packed_words(Args args);
void pack_inputs(Args args, int64_t* words);

// The members of Kineto's `args` object that describe inputs, as a JSON object:
// {"Concrete Inputs": ["", "0"], "Input type": [...], "Input Strides": [...], "Input Dims": [...]}
std::string inputs_json(std::span<const int64_t> words);

}  // namespace epi::profile
