// SPDX-License-Identifier: Apache-2.0
// The table of pointwise operators as data, for the runtime and for the trace reader alike: it
// knows no tensor. operators.def has the rows, functions.h the arithmetic.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace epi::pointwise {

// The arithmetic of an operator; of gelu there are two.
enum class Function : uint8_t {
#define EPI_POINTWISE(Name, ...) k##Name,
#define EPI_POINTWISE_VARIANT(Name, ...) k##Name,
#include "epilogue/pointwise/operators.def"
  kEnd
};
inline constexpr size_t kFunctionCount = static_cast<size_t>(Function::kEnd);

// Dtypes that eager kernels take. Fused kernels are of f32, bf16 and f16.
enum class Types : uint8_t { kFloats, kNumbers };

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An argument behind the tensors.
struct Scalar {
  std::string_view name;
  double absent = 0;       // its value where the call has none
  bool is_factor = false;  // multiplies an operand: costs an operation where it is not 1
};
inline constexpr size_t kMaxScalars = 2;

struct FunctionInfo {
  std::string_view name;     // in functions.h: "gelu_tanh"
  std::string_view op;       // ATen's, without "aten::": "gelu"
  std::string_view variant;  // the text argument that asks for it: "tanh"; empty for most
  int inputs = 1;
  Types types = Types::kFloats;
  double slots = 1;  // f32 instructions for each element in a generated GPU kernel
  size_t scalar_count = 0;
  std::array<Scalar, kMaxScalars> scalars{};
};

namespace detail {

constexpr FunctionInfo info(std::string_view name, int inputs, Types types, double slots,
                            std::initializer_list<Scalar> scalars) {
  FunctionInfo row{name, name, "", inputs, types, slots};
  for (const Scalar& scalar : scalars) row.scalars[row.scalar_count++] = scalar;
  return row;
}

}  // namespace detail

// By Function.
inline constexpr std::array<FunctionInfo, kFunctionCount> kFunctions = {{
#define EPI_POINTWISE(Name, function, inputs, types, slots, ...) \
  detail::info(#function, inputs, Types::types, slots, {__VA_ARGS__}),
#define EPI_POINTWISE_VARIANT(Name, function, op, slots, text) \
  FunctionInfo{#function, #op, text, 1, Types::kFloats, slots},
#include "epilogue/pointwise/operators.def"
}};

constexpr const FunctionInfo& info(Function function) {
  return kFunctions[static_cast<size_t>(function)];
}

// What computing one element costs a CPU beside copying one: functions that divide or are made of
// exp take several times as long; those of integers are an instruction or two. Tells how finely
// work is split over threads.
constexpr int64_t copies_worth(Function function) {
  const FunctionInfo& about = info(function);
  return about.types == Types::kNumbers || about.slots < 10 ? 1 : 4;
}

// An operator that only traces have.
struct TraceOnly {
  std::string_view op;
  double slots;
};
inline constexpr TraceOnly kTraceOnly[] = {
#define EPI_POINTWISE_IN_TRACES(name, slots) {name, slots},
#include "epilogue/pointwise/operators.def"
};

}  // namespace epi::pointwise
