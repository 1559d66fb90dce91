// SPDX-License-Identifier: Apache-2.0
// The table of pointwise operators as data, for the runtime and the trace reader. It does not
// depend on tensors. operators.def holds the rows, functions.h the arithmetic.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace epi::pointwise {

// The function an operator computes. gelu has two.
enum class Function : uint8_t {
#define EPI_POINTWISE(Name, ...) k##Name,
#define EPI_POINTWISE_VARIANT(Name, ...) k##Name,
#include "epilogue/pointwise/operators.def"
  kEnd
};
inline constexpr size_t kFunctionCount = static_cast<size_t>(Function::kEnd);

// Dtypes that the eager kernels support. Fused kernels support f32, bf16 and f16.
enum class Types : uint8_t { kFloats, kNumbers };

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// An argument after the tensors.
struct Scalar {
  std::string_view name;
  double default_value = 0;  // used if the call omits the argument
  bool is_factor = false;    // multiplies an operand: costs one operation unless it is 1
};
inline constexpr size_t kMaxScalars = 2;

struct FunctionInfo {
  std::string_view name;     // the name in functions.h: "gelu_tanh"
  std::string_view op;       // the ATen name without "aten::": "gelu"
  std::string_view variant;  // the text argument that selects it: "tanh"; empty for most
  int inputs = 1;
  Types types = Types::kFloats;
  double slots = 1;  // f32 instructions per element in a generated GPU kernel
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

// Indexed by Function.
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

// CPU cost of computing one element, relative to copying one: functions that divide or build on exp
// take several times as long, integer functions an instruction or two. Determines how finely work
// is split over threads.
constexpr int64_t relative_cpu_cost(Function function) {
  const FunctionInfo& row = info(function);
  return row.types == Types::kNumbers || row.slots < 10 ? 1 : 4;
}

// An operator that only occurs in traces.
struct TraceOnly {
  std::string_view op;
  double slots;
};
inline constexpr TraceOnly kTraceOnly[] = {
#define EPI_POINTWISE_IN_TRACES(name, slots) {name, slots},
#include "epilogue/pointwise/operators.def"
};

}  // namespace epi::pointwise
