// SPDX-License-Identifier: Apache-2.0
// gather, index_select and where: converts operands to plain structs.
#include <cstring>

#include "epilogue/cuda/cuda_kernels.h"
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/operands.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/ops/indexed.h"
#include "epilogue/tensor/dtype.h"

namespace epi::cuda {
namespace {

using Launcher = void (*)(const IndexShape&, cudaStream_t);

void read_by_index(std::string_view op, Launcher launch, Args args, const Tensor& out) {
  const Indexed call = as_indexed(op, args, out);
  const auto cost = [&]() -> LaunchCost {
    return {2 * out.size_bytes() + stored_bytes(args.tensor(2)), 0};
  };
  run_launch(cost, [&] {
    launch({strided_shape({&out, &call.x, &call.index}), call.stride, call.size},
           current_stream(out.device().index).get());
  });
  check_launch(op);
}

// The bits of a number as an element of `dtype`.
uint64_t element_bits(double number, DType dtype) {
  uint64_t bits = 0;
  visit_dtype(dtype, [&]<typename T>(T) {
    T element;
    if constexpr (sizeof(T) == 2) {
      element = T(static_cast<float>(number));
    } else if constexpr (std::is_same_v<T, bool>) {
      element = number != 0;
    } else {
      element = static_cast<T>(number);
    }
    std::memcpy(&bits, &element, sizeof element);  // little-endian
  });
  return bits;
}

}  // namespace

void gather(Args args, const Tensor& out) { read_by_index("gather", launch_gather, args, out); }

void index_select(Args args, const Tensor& out) {
  read_by_index("index_select", launch_index_select, args, out);
}

void where(Args args, const Tensor& out) {
  const Tensor& condition = args.tensor(0);
  // A number broadcasts like a tensor of one element, whose data the kernel does not read.
  const Tensor one(out.storage(), {{}, {}}, out.offset(), out.dtype());
  const auto choice = [&](size_t i) { return args[i].is_tensor() ? args.tensor(i) : one; };
  const Tensor x = choice(1);
  const Tensor other = choice(2);
  ChoiceShape shape = choice_shape({&out, &condition, &x, &other});
  ChoiceNumbers numbers;
  int64_t bytes = stored_bytes(condition) + out.size_bytes();
  for (const size_t i : {0U, 1U}) {
    if (args[i + 1].is_tensor()) {
      bytes += stored_bytes(args.tensor(i + 1));
      continue;
    }
    numbers.bits[i] = element_bits(args[i + 1].number(), out.dtype());
    shape.data[i + 2] = nullptr;
  }
  const LaunchCost cost{bytes, 0};
  run_launch([&] { return cost; },
             [&] { launch_where(shape, numbers, current_stream(out.device().index).get()); });
  check_launch("where");
}

}  // namespace epi::cuda
