// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/bound_call.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "epilogue/base/error.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::hub {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

// Returns nothing if rows are not evenly spaced or a row has gaps.
std::optional<OperandMatrix> as_rows(const Tensor& x) {
  OperandMatrix matrix{x, x.raw_data(), 1, 1, 1};
  const int rank = x.dim();
  if (rank > 0) matrix.columns = x.shape()[rank - 1];
  matrix.row_stride = matrix.columns;
  if (x.numel() == 0) {
    for (int d = 0; d + 1 < rank; ++d) matrix.rows *= x.shape()[d];
    return matrix;
  }
  if (rank > 0 && matrix.columns > 1 && x.strides()[rank - 1] != 1) return std::nullopt;
  for (int d = rank - 2; d >= 0; --d) {
    const int64_t size = x.shape()[d];
    const int64_t stride = x.strides()[d];
    if (size == 1) continue;
    if (matrix.rows == 1) {
      if (stride < matrix.columns) return std::nullopt;  // rows overlap
      matrix.row_stride = stride;
    } else if (stride != matrix.row_stride * matrix.rows) {
      return std::nullopt;
    }
    matrix.rows *= size;
  }
  return matrix;
}

bool is_aligned(const OperandMatrix& matrix, int64_t align_bytes) {
  const int64_t row_bytes = matrix.row_stride * size_bytes(matrix.tensor.dtype());
  return reinterpret_cast<uintptr_t>(matrix.data) % static_cast<size_t>(align_bytes) == 0 &&
         (matrix.rows <= 1 || row_bytes % align_bytes == 0);
}

OperandMatrix matrix_of(const Tensor& x, int64_t align_bytes) {
  if (const auto rows = as_rows(x); rows && is_aligned(*rows, align_bytes)) return *rows;
  return *as_rows(clone(x));
}

// Tensors are aligned. Their rows are aligned if the row stride is a multiple of the alignment.
void check_rows(const Export& kernel, const Operand& operand, const OperandMatrix& matrix) {
  if (is_aligned(matrix, kernel.align_bytes)) return;
  fail(kernel.name, "the row stride of {} is {} bytes, must be a multiple of {}", operand.name,
       matrix.row_stride * size_bytes(matrix.tensor.dtype()), kernel.align_bytes);
}

void bind_size(BoundCall& call, std::string_view size, int64_t value, const Operand& operand,
               const OperandMatrix& matrix) {
  for (const auto& [name, known] : call.sizes) {
    if (name != size) continue;
    if (known == value) return;
    fail(call.kernel->name, "{} is {}x{}, but {} is {} in the preceding operands", operand.name,
         matrix.rows, matrix.columns, size, known);
  }
  call.sizes.emplace_back(size, value);
}

bool matches(const SizeRule& rule, int64_t value) {
  return value >= rule.least && value <= rule.most && value % rule.multiple_of == 0;
}

void check_sizes(const BoundCall& call) {
  for (const SizeRule& rule : call.kernel->sizes) {
    const int64_t value = call.size(rule.size);
    if (value < rule.least || value > rule.most) {
      fail(call.kernel->name, "{} is {}, must be from {} to {}", rule.size, value, rule.least,
           rule.most);
    }
    if (value % rule.multiple_of != 0) {
      fail(call.kernel->name, "{} is {}, must be a multiple of {}", rule.size, value,
           rule.multiple_of);
    }
  }
}

// Takes the leading dimensions from the first input with the same rows.
Tensor make_output(const BoundCall& call, const Operand& output, std::span<const Tensor> inputs) {
  const int64_t columns = call.size(output.shape[1]);
  size_t input = 0;
  for (const Operand& operand : call.kernel->operands) {
    if (operand.output) continue;
    const Tensor& like = inputs[input++];
    if (operand.weight || operand.shape[0] != output.shape[0] || like.dim() == 0) continue;
    Dims shape = like.shape();
    shape[shape.rank() - 1] = columns;
    return empty(shape, {call.dtype, like.device()});
  }
  return empty({call.size(output.shape[0]), columns}, {call.dtype, inputs[0].device()});
}

void check_inputs(const Export& kernel, std::span<const Tensor> inputs) {
  const auto expected = std::ranges::count_if(
      kernel.operands, [](const Operand& operand) { return !operand.output; });
  if (static_cast<size_t>(expected) != inputs.size() || inputs.empty()) {
    fail(kernel.name, "expected {} inputs, got {}", expected, inputs.size());
  }
  const DType dtype = inputs[0].dtype();
  if (std::ranges::find(kernel.dtypes, dtype) == kernel.dtypes.end()) {
    fail(kernel.name, "no kernel for dtype {}", name(dtype));
  }
  for (const Tensor& input : inputs) {
    if (input.dtype() != dtype) {
      fail(kernel.name, "dtypes differ: {} and {}", name(dtype), name(input.dtype()));
    }
    if (input.device() != inputs[0].device()) {
      fail(kernel.name, "devices differ: {} and {}", name(inputs[0].device()),
           name(input.device()));
    }
  }
}

// Whether all operands are contiguous and have the same shape.
bool can_be_flat(const BoundCall& call) {
  const OperandMatrix& output = call.output();
  return std::ranges::all_of(call.operands, [&](const OperandMatrix& matrix) {
    const bool dense = matrix.rows <= 1 || matrix.row_stride == matrix.columns;
    return dense && matrix.rows == output.rows && matrix.columns == output.columns;
  });
}

bool matches(const BoundCall& call, const Launch& launch) {
  if (launch.dtype != call.dtype || (launch.flat && !can_be_flat(call))) return false;
  for (const SizeRule& rule : launch.when) {
    if (!matches(rule, launch_size(call, launch, rule.size))) return false;
  }
  for (const Argument& argument : launch.arguments) {
    const bool is_int = argument.kind == Argument::Kind::kInt;
    if (is_int && launch_size(call, launch, argument.size) > kMaxInt) return false;
  }
  return std::ranges::all_of(call.operands, [&](const OperandMatrix& matrix) {
    const auto address = reinterpret_cast<uintptr_t>(matrix.data);
    return launch.flat ? address % static_cast<size_t>(launch.align_bytes) == 0
                       : is_aligned(matrix, launch.align_bytes);
  });
}

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

int64_t BoundCall::size(std::string_view name) const {
  for (const auto& [known, value] : sizes) {
    if (known == name) return value;
  }
  EPI_CHECK(false);
  return 0;
}

const OperandMatrix& BoundCall::output() const {
  const auto found = std::ranges::find_if(kernel->operands, &Operand::output);
  return operands[static_cast<size_t>(found - kernel->operands.begin())];
}

int64_t BoundCall::bytes() const {
  int64_t total = 0;
  for (const OperandMatrix& matrix : operands) total += matrix.rows * matrix.columns;
  return total * size_bytes(dtype);
}

int64_t BoundCall::flops() const {
  int64_t total = kernel->flops;
  for (const std::string& name : kernel->flops_sizes) {
    if (__builtin_mul_overflow(total, size(name), &total)) return INT64_MAX;
  }
  return total;
}

BoundCall bind_call(const Export& kernel, std::span<const Tensor> inputs, const Tensor& out) {
  check_inputs(kernel, inputs);
  BoundCall call{&kernel, inputs[0].dtype(), {}, {}};
  call.operands.resize(kernel.operands.size());
  size_t input = 0;
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    const Operand& operand = kernel.operands[i];
    if (operand.output) continue;
    call.operands[i] = matrix_of(inputs[input++], kernel.align_bytes);
    bind_size(call, operand.shape[0], call.operands[i].rows, operand, call.operands[i]);
    bind_size(call, operand.shape[1], call.operands[i].columns, operand, call.operands[i]);
  }
  check_sizes(call);
  bool is_given = out.defined();
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    const Operand& operand = kernel.operands[i];
    if (operand.output) {
      call.operands[i] = *as_rows(is_given ? out : make_output(call, operand, inputs));
      is_given = false;
    }
    check_rows(kernel, operand, call.operands[i]);
  }
  return call;
}

// In a flat launch all operands are one row.
int64_t launch_size(const BoundCall& call, const Launch& launch, std::string_view name) {
  if (!launch.flat) return call.size(name);
  const bool is_rows = name == call.kernel->operands[0].shape[0];
  return is_rows ? 1 : call.output().rows * call.output().columns;
}

PlannedLaunch plan_launch(const BoundCall& call, int processors) {
  PlannedLaunch best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (const Launch& launch : call.kernel->launches) {
    if (!matches(call, launch)) continue;
    const OperandMatrix& output = call.output();
    const int64_t rows = launch.flat ? 1 : output.rows;
    const int64_t columns = launch.flat ? output.rows * output.columns : output.columns;
    const int64_t tiles = ceil_divide(rows, launch.tile[0]) * ceil_divide(columns, launch.tile[1]);
    if (tiles > kMaxInt) continue;
    const double cost = static_cast<double>(ceil_divide(tiles, processors)) * launch.wave_cost;
    if (cost >= best_cost) continue;
    best_cost = cost;
    best = {&launch, launch.persistent ? std::min<int64_t>(tiles, processors) : tiles};
  }
  if (best.launch == nullptr) {
    fail(call.kernel->name, "no kernel of the package supports {} {}x{}", name(call.dtype),
         call.output().rows, call.output().columns);
  }
  return best;
}

}  // namespace epi::hub
