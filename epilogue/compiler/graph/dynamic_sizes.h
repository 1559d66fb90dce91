// SPDX-License-Identifier: Apache-2.0
// Which sizes of a function's inputs are dynamic, and which of them are the same.
#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "epilogue/compiler/compile_options.h"
#include "epilogue/compiler/graph/sym_size.h"
#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

using InputDim = std::pair<int, int>;  // an input and one of its dimensions

// A guess, from general to special. Capture tries one after another.
enum class SizeGuess : uint8_t {
  // Leading sizes, and the last size of a matrix such as a mask if it is a dynamic size twice, and
  // sizes that are equal to one that the caller said is free.
  kBroad,
  kLeading,
  kEqual,         // also for a single input: equal sizes are the same
  kConservative,  // a size that another input ends in is fixed, such as the rows of a weight
};

struct SizeRules {
  std::vector<InputSize> given{};     // by the caller
  std::set<InputDim> changed{};       // between calls
  std::set<InputDim> fixed{};         // because the function needs it
  std::vector<int> fixed_integers{};  // integer arguments that are not symbols, by the caller
};

// The dimension that a rule refers to.
int dimension_of(std::span<const Tensor> inputs, const InputSize& rule);

// Throws if a given rule refers to no dimension of the inputs.
void check_rules(std::span<const Tensor> inputs, const std::vector<InputSize>& given);

// The symbol of each dimension of each input, or its size. Primes of the symbols divide none of the
// sizes in `avoid`.
std::vector<SymDims> choose_symbols(std::span<const Tensor> inputs, SizeGuess guess,
                                    const SizeRules& rules, std::vector<int64_t> avoid,
                                    SymbolHints& hints);

// Whether the caller said that one of these sizes is free.
bool has_free(const std::vector<InputDim>& dims, std::span<const Tensor> inputs,
              const std::vector<InputSize>& given);

}  // namespace epi::compiler
