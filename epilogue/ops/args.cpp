// SPDX-License-Identifier: Apache-2.0
#include "epilogue/ops/args.h"

#include <fmt/format.h>

namespace epi {
namespace {

const char* name(Arg::Kind kind) {
  switch (kind) {
    case Arg::Kind::kNone:
      return "an undefined tensor";
    case Arg::Kind::kTensor:
      return "a tensor";
    case Arg::Kind::kTensors:
      return "a list of tensors";
    case Arg::Kind::kInt:
      return "an integer";
    case Arg::Kind::kFloat:
      return "a floating-point number";
    case Arg::Kind::kBool:
      return "a bool";
    case Arg::Kind::kInts:
      return "a list of integers";
    case Arg::Kind::kString:
      break;
  }
  return "a string";
}

}  // namespace

void Arg::fail_kind(Kind expected) const {
  throw detail::ArgumentMismatch(
      fmt::format("an argument is {}, but the operator reads {}", name(kind_), name(expected)));
}

void Args::fail_count(size_t position) const {
  const size_t count = size();
  throw detail::ArgumentMismatch(
      fmt::format("the call has {} argument{}, but the operator reads argument {}", count,
                  count == 1 ? "" : "s", position + 1));
}

}  // namespace epi
