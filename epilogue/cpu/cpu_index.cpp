// SPDX-License-Identifier: Apache-2.0
// gather, index_select and where: elements are copied by their size, whatever their dtype.
#include <array>

#include "epilogue/cpu/cpu_kernels.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/cpu/strided_walk.h"
#include "epilogue/ops/indexed.h"

namespace epi::cpu {
namespace {

// Calls f with a zero of an unsigned integer type of this size.
template <typename F>
void visit_size(int64_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

int64_t checked(std::string_view op, int64_t index, int64_t size) {
  if (index < 0 || index >= size) {
    fail(op, "index {} is out of range for a dimension of size {}", index, size);
  }
  return index;
}

// One run. If all its elements have the same index, it is a copy.
template <typename Index>
void read_run(std::string_view op, const Indexed& call, const Run& run) {
  const int64_t bytes = size_bytes(call.x.dtype());
  const auto* index = reinterpret_cast<const Index*>(run.data[2]);
  if (run.strides[2] == 0) {
    const std::byte* from = run.data[1] + checked(op, index[0], call.size) * call.stride * bytes;
    converter(call.x.dtype(), call.x.dtype())(from, run.strides[1], run.data[0], run.strides[0],
                                              run.count);
    return;
  }
  visit_size(bytes, [&](auto zero) {
    using T = decltype(zero);
    const auto* from = reinterpret_cast<const T*>(run.data[1]);
    auto* to = reinterpret_cast<T*>(run.data[0]);
    for (int64_t i = 0; i < run.count; ++i) {
      const int64_t at = checked(op, index[i * run.strides[2]], call.size);
      to[i * run.strides[0]] = from[i * run.strides[1] + at * call.stride];
    }
  });
}

void read_by_index(std::string_view op, Args args, const Tensor& out) {
  const Indexed call = as_indexed(op, args, out);
  const Dims& shape = out.shape();
  const StridedWalk walk(shape,
                         {operand(out, shape), operand(call.x, shape), operand(call.index, shape)});
  const auto body = call.index.dtype() == DType::kI64 ? read_run<int64_t> : read_run<int32_t>;
  run_kernel(
      [&]() -> KernelCost {
        return {KernelName("{}_{}", op, name(out.dtype())),
                2 * out.size_bytes() + stored_bytes(args.tensor(2)), 0};
      },
      [&] { walk.parallel([&](const Run& run) { body(op, call, run); }); });
}

// A tensor, or a number in the dtype of the output, which broadcasts.
class Choice {
 public:
  Choice(const Arg& arg, const Tensor& out) : arg_(arg), dtype_(out.dtype()) {
    if (arg.is_tensor()) return;
    const double value = arg.number();
    converter(DType::kF64, dtype_)(&value, 1, number_.data(), 1, 1);
  }
  Operand operand_for(const Dims& shape) {
    if (arg_.is_tensor()) return operand(arg_.tensor(), shape);
    return {number_.data(), Dims::filled(shape.rank(), 0), size_bytes(dtype_)};
  }
  int64_t stored() const { return arg_.is_tensor() ? stored_bytes(arg_.tensor()) : 0; }

 private:
  const Arg& arg_;
  DType dtype_;
  alignas(8) std::array<std::byte, 8> number_{};
};

template <typename T>
void choose_run(const FusedWalk::Run& run) {
  auto* to = reinterpret_cast<T*>(run.data[0]);
  const auto* condition = reinterpret_cast<const uint8_t*>(run.data[1]);
  const auto* x = reinterpret_cast<const T*>(run.data[2]);
  const auto* other = reinterpret_cast<const T*>(run.data[3]);
  for (int64_t i = 0; i < run.count; ++i) {
    to[i * run.strides[0]] =
        condition[i * run.strides[1]] != 0 ? x[i * run.strides[2]] : other[i * run.strides[3]];
  }
}

}  // namespace

void gather(Args args, const Tensor& out) { read_by_index("gather", args, out); }

void index_select(Args args, const Tensor& out) { read_by_index("index_select", args, out); }

void where(Args args, const Tensor& out) {
  const Tensor& condition = args.tensor(0);
  Choice x(args[1], out);
  Choice other(args[2], out);
  const Dims& shape = out.shape();
  const FusedWalk walk(shape, {operand(out, shape), operand(condition, shape), x.operand_for(shape),
                               other.operand_for(shape)});
  run_kernel(
      [&]() -> KernelCost {
        return {KernelName("where_{}{}", name(out.dtype()), walk.unit_stride() ? "" : "_strided"),
                stored_bytes(condition) + x.stored() + other.stored() + out.size_bytes(), 0};
      },
      [&] {
        visit_size(size_bytes(out.dtype()),
                   [&](auto zero) { walk.parallel(choose_run<decltype(zero)>); });
      });
}

}  // namespace epi::cpu
