// SPDX-License-Identifier: Apache-2.0
// The CUDA kernel of the PyTorch operators epilogue::glu_mlp and epilogue::glu_mlp_forward. Python
// (python/epilogue/torch) defines their schemas, and everything else about them.
#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "epilogue/glu.h"
#include "epilogue/torch/glu_blocks.h"
#include "epilogue/torch/glu_operator.h"
#include "epilogue/torch/torch_shim.h"

namespace epi::torch {
namespace {

TorchShim shim;  // written once, before the registration

void check(int32_t status, const char* what) {
  if (status != 0) throw std::runtime_error(std::string("epilogue::glu_mlp: cannot ") + what);
}

// The arguments of the schema
//   glu_mlp(Tensor x, Tensor gate, Tensor? up, Tensor down, Tensor? gate_bias, Tensor? up_bias,
//           Tensor? down_bias, int activation) -> Tensor
// Without up, gate contains the rows of gate and then those of up, and gate_bias both biases.
enum Argument { kX, kGate, kUp, kDown, kGateBias, kUpBias, kDownBias, kActivation, kArguments };
constexpr bool is_optional(int argument) {
  return argument == kUp || (argument >= kGateBias && argument <= kDownBias);
}
constexpr const char* kNames[] = {"x", "gate", "up", "down", "gate_bias", "up_bias", "down_bias"};
constexpr int64_t kMaxDim = 16;

using Arguments = std::array<StableValue, kArguments>;

// Null for an optional argument that is absent.
TensorHandle tensor_of(const Arguments& values, int argument) {
  StableValue value = values[static_cast<size_t>(argument)];
  if (value != 0 && is_optional(argument)) value = *reinterpret_cast<const StableValue*>(value);
  return reinterpret_cast<TensorHandle>(value);
}

// Frees the arguments, which belong to the kernel.
class OwnedArguments {
 public:
  explicit OwnedArguments(Arguments& values) : values_(&values) {}
  OwnedArguments(const OwnedArguments&) = delete;
  OwnedArguments& operator=(const OwnedArguments&) = delete;
  ~OwnedArguments() {
    if (values_ == nullptr) return;
    for (int i = 0; i < kActivation; ++i) {
      if (const TensorHandle tensor = tensor_of(*values_, i)) shim.delete_tensor(tensor);
      if (is_optional(i)) delete reinterpret_cast<StableValue*>((*values_)[static_cast<size_t>(i)]);
    }
  }
  void release() { values_ = nullptr; }

 private:
  Arguments* values_;
};

// A tensor that the kernel allocated.
class OwnedTensor {
 public:
  explicit OwnedTensor(TensorHandle handle) : handle_(handle) {}
  OwnedTensor(const OwnedTensor&) = delete;
  OwnedTensor& operator=(const OwnedTensor&) = delete;
  ~OwnedTensor() {
    if (handle_ != nullptr) shim.delete_tensor(handle_);
  }
  TensorHandle get() const { return handle_; }
  TensorHandle release() { return std::exchange(handle_, nullptr); }
  void* data() const {
    void* data = nullptr;
    check(shim.get_data_ptr(handle_, &data), "read a tensor");
    return data;
  }

 private:
  TensorHandle handle_;
};

struct View {
  int64_t dim = 0;
  int64_t* sizes = nullptr;
  int64_t* strides = nullptr;
  int32_t dtype = 0;
  int32_t device = 0;  // -1 for the CPU
  void* data = nullptr;

  // A dense matrix or vector that TMA can read.
  bool is_dense() const {
    int64_t stride = 1;
    for (int64_t i = dim - 1; i >= 0; --i) {
      if (strides[i] != stride) return false;
      stride *= sizes[i];
    }
    return reinterpret_cast<uintptr_t>(data) % 16 == 0;
  }
};

View view_of(TensorHandle tensor) {
  View view;
  const bool ok =
      shim.get_dim(tensor, &view.dim) == 0 && shim.get_sizes(tensor, &view.sizes) == 0 &&
      shim.get_strides(tensor, &view.strides) == 0 && shim.get_dtype(tensor, &view.dtype) == 0 &&
      shim.get_device_index(tensor, &view.device) == 0 &&
      shim.get_data_ptr(tensor, &view.data) == 0;
  check(ok ? 0 : 1, "read a tensor");
  return view;
}

std::string shape_text(const View& view) {
  std::string text = "[";
  for (int64_t i = 0; i < view.dim; ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(view.sizes[i]);
  }
  return text + "]";
}

// The arguments, after checks that do not depend on the kernels.
struct Call {
  std::array<std::optional<View>, kActivation> tensors;
  int64_t m = 1;
  int64_t k = 0;
  int64_t n = 0;
  int64_t out = 0;
  bool is_stacked = false;

  const View& operator[](int argument) const { return *tensors[static_cast<size_t>(argument)]; }
  bool has(int argument) const { return tensors[static_cast<size_t>(argument)].has_value(); }
  void check_shape(int argument, std::initializer_list<int64_t> expected) const;
  explicit Call(const Arguments& values);
};

void Call::check_shape(int argument, std::initializer_list<int64_t> expected) const {
  if (!has(argument)) return;
  const View& view = (*this)[argument];
  if (std::equal(expected.begin(), expected.end(), view.sizes, view.sizes + view.dim)) return;
  std::string text = "epilogue::glu_mlp: ";
  text += kNames[argument];
  text += " has shape " + shape_text(view) + ", expected [";
  for (const int64_t size : expected) text += std::to_string(size) + ", ";
  text.replace(text.size() - 2, 2, "]");
  throw std::runtime_error(text);
}

Call::Call(const Arguments& values) {
  for (int i = 0; i < kActivation; ++i) {
    if (const TensorHandle tensor = tensor_of(values, i)) {
      tensors[static_cast<size_t>(i)] = view_of(tensor);
    }
  }
  const View& x = (*this)[kX];
  for (int i = 1; i < kActivation; ++i) {
    if (!has(i)) continue;
    const View& tensor = (*this)[i];
    if (tensor.device != x.device) {  // the CPU is -1
      throw std::runtime_error(
          std::string("Expected all tensors to be on the same device, but x and ") + kNames[i] +
          " are on different devices (epilogue::glu_mlp)");
    }
    if (tensor.dtype != x.dtype) {
      throw std::runtime_error(std::string("epilogue::glu_mlp: expected x and ") + kNames[i] +
                               " to have the same dtype");
    }
  }
  if (x.dim < 1 || (*this)[kGate].dim != 2 || (*this)[kDown].dim != 2) {
    throw std::runtime_error("epilogue::glu_mlp: x must have at least 1 dimension, weights 2");
  }
  for (int64_t i = 0; i < x.dim - 1; ++i) m *= x.sizes[i];
  k = x.sizes[x.dim - 1];
  n = (*this)[kDown].sizes[1];
  out = (*this)[kDown].sizes[0];
  is_stacked = !has(kUp);
  const int64_t gate_rows = is_stacked ? 2 * n : n;
  check_shape(kGate, {gate_rows, k});
  check_shape(kUp, {n, k});
  check_shape(kGateBias, {gate_rows});
  check_shape(kUpBias, {n});
  check_shape(kDownBias, {out});
}

// The distance between rows of x as a matrix, or nothing if TMA cannot read it in place.
std::optional<int64_t> row_stride(const View& x, const Call& call) {
  const int64_t last = x.dim - 1;
  if (x.strides[last] != 1 || reinterpret_cast<uintptr_t>(x.data) % 16 != 0) return std::nullopt;
  if (call.m == 1) return call.k;
  int64_t rows = 1;
  std::optional<int64_t> stride;
  for (int64_t i = last - 1; i >= 0; --i) {
    if (x.sizes[i] == 1) continue;
    if (!stride) stride = x.strides[i];
    if (x.strides[i] != *stride * rows) return std::nullopt;
    rows *= x.sizes[i];
  }
  return *stride >= call.k && *stride % 8 == 0 ? stride : std::nullopt;
}

OwnedTensor empty_like_rows(const View& x, int64_t columns) {
  std::array<int64_t, kMaxDim> sizes;
  std::array<int64_t, kMaxDim> strides;
  int64_t stride = 1;
  for (int64_t i = x.dim - 1; i >= 0; --i) {
    const auto at = static_cast<size_t>(i);
    sizes[at] = i == x.dim - 1 ? columns : x.sizes[i];
    strides[at] = stride;
    stride *= std::max<int64_t>(sizes[at], 1);
  }
  TensorHandle tensor = nullptr;
  check(shim.empty_strided(x.dim, sizes.data(), strides.data(), x.dtype, shim.device_type_cuda(),
                           x.device, &tensor),
        "allocate the result: CUDA out of memory.");
  return OwnedTensor(tensor);
}

OwnedTensor allocate_bytes(size_t bytes, const View& x) {
  const auto size = static_cast<int64_t>(bytes);
  const int64_t stride = 1;
  TensorHandle tensor = nullptr;
  check(shim.empty_strided(1, &size, &stride, shim.dtype_uint8(), shim.device_type_cuda(), x.device,
                           &tensor),
        "allocate the workspace: CUDA out of memory.");
  return OwnedTensor(tensor);
}

// Memory that a thread keeps for the small workspaces on the default stream: an allocation takes a
// microsecond. Kernels on a stream run one after the other, so they can share it. Other streams may
// be captured, or allocate from the private pool of a graph, where nothing may stay allocated.
constexpr size_t kKeptBytes = size_t{1} << 20;

void* kept_workspace(const epi_glu_call& call, const View& x) {
  thread_local struct {
    int32_t device = -1;
    std::optional<OwnedTensor> memory;
    void* data = nullptr;
  } kept;
  if (call.stream != nullptr || call.workspace_bytes > kKeptBytes) return nullptr;
  if (kept.device != x.device) {
    kept.memory.emplace(allocate_bytes(kKeptBytes, x).release());
    kept.device = x.device;
    kept.data = kept.memory->data();
  }
  return kept.data;
}

// The prepared block, or null where ATen has to run.
const epi_glu* find_block(const Call& call, int64_t activation) {
  const View& x = call[kX];
  if (x.device < 0 || x.dim > kMaxDim) return nullptr;
  const bool is_bf16 = x.dtype == shim.dtype_bfloat16();
  if (!is_bf16 && x.dtype != shim.dtype_float16()) return nullptr;
  for (int i = kGate; i < kActivation; ++i) {
    if (call.has(i) && !call[i].is_dense()) return nullptr;
  }
  const auto bias = [&](int argument, uint32_t bit) { return call.has(argument) ? bit : 0; };
  const int up_bias = call.is_stacked ? kGateBias : kUpBias;
  const epi_glu_block block = {sizeof block,
                               x.device,
                               is_bf16 ? EPI_GLU_BF16 : EPI_GLU_F16,
                               static_cast<epi_glu_activation>(activation),
                               bias(kGateBias, EPI_GLU_GATE_BIAS) | bias(up_bias, EPI_GLU_UP_BIAS) |
                                   bias(kDownBias, EPI_GLU_DOWN_BIAS),
                               call.k,
                               call.n,
                               call.out};
  return glu_block(block).handle;
}

TensorHandle run(const epi_glu* block, const Call& call, TensorHandle x_handle) {
  const View& x = call[kX];
  OwnedTensor y = empty_like_rows(x, call.out);
  if (call.m == 0) return y.release();
  std::optional<OwnedTensor> dense_x;
  std::optional<int64_t> stride = row_stride(x, call);
  if (!stride) {
    dense_x.emplace(empty_like_rows(x, call.k).release());
    check(shim.copy(dense_x->get(), x_handle, 0), "copy x");
    stride = call.k;
  }
  const auto second = [&](int argument, int64_t elements) -> const void* {
    return static_cast<const std::byte*>(call[argument].data) + elements * 2;
  };
  const auto data = [&](int argument) -> const void* {
    return call.has(argument) ? call[argument].data : nullptr;
  };
  epi_glu_call given{};
  given.struct_size = sizeof given;
  given.path = EPI_GLU_AUTO;
  given.m = call.m;
  given.x = dense_x ? dense_x->data() : x.data;
  given.x_stride = *stride;
  given.gate = data(kGate);
  given.up = call.is_stacked ? second(kGate, call.n * call.k) : data(kUp);
  given.down = data(kDown);
  given.gate_bias = data(kGateBias);
  given.up_bias =
      call.is_stacked && call.has(kGateBias) ? second(kGateBias, call.n) : data(kUpBias);
  given.down_bias = data(kDownBias);
  given.y = y.data();
  void* stream = nullptr;
  check(shim.get_current_cuda_stream(x.device, &stream), "get the current stream");
  given.stream = static_cast<CUstream_st*>(stream);
  given.workspace_bytes = epi_glu_workspace_bytes(block, call.m, EPI_GLU_AUTO);
  std::optional<OwnedTensor> workspace;
  given.workspace = kept_workspace(given, x);
  if (given.workspace == nullptr) {
    workspace.emplace(allocate_bytes(given.workspace_bytes, x).release());
    given.workspace = workspace->data();
  }
  if (const epi_glu_status status = epi_glu_run(block, &given); status != EPI_GLU_OK) {
    throw std::runtime_error(
        std::string("epilogue::glu_mlp: ") +
        (status == EPI_GLU_FAILED ? epi_glu_message() : epi_glu_status_text(status)));
  }
  return y.release();
}

// Takes the arguments, and returns the handle of y.
StableValue run_block(Arguments& values) {
  OwnedArguments owned(values);
  const Call call(values);
  const epi_glu* block = find_block(call, static_cast<int64_t>(values[kActivation]));
  if (block == nullptr) {
    owned.release();  // the callee takes the arguments
    check(shim.call_dispatcher("epilogue::glu_mlp_aten", "", values.data()),
          "run the block with ATen: PyTorch's message is in its log");
    return values[0];
  }
  return reinterpret_cast<StableValue>(run(block, call, tensor_of(values, kX)));
}

void glu_mlp(StableValue* stack, uint64_t, uint64_t) {
  Arguments values;
  std::copy(stack, stack + kArguments, values.begin());
  stack[0] = run_block(values);
}

// glu_mlp_forward(Tensor x, Tensor gate, Tensor? up, Tensor down, int activation) -> Tensor
void glu_mlp_forward(StableValue* stack, uint64_t, uint64_t) {
  Arguments values = {stack[0], stack[1], stack[2], stack[3], 0, 0, 0, stack[4]};
  stack[0] = run_block(values);
}

std::string register_kernels() {
  if (std::string reason = load_shim(shim); !reason.empty()) return reason;
  LibraryHandle library = nullptr;  // the registrations live until the process ends
  bool ok = shim.library_init_impl("epilogue", "CUDA", __FILE__, __LINE__, &library) == 0;
  ok = ok && shim.library_impl(library, "glu_mlp", glu_mlp) == 0;
  ok = ok && shim.library_impl(library, "glu_mlp_forward", glu_mlp_forward) == 0;
  return ok ? "" : "PyTorch refuses the registration: its message is in its log";
}

}  // namespace
}  // namespace epi::torch

extern "C" {

const char* epi_torch_register(void) {
  static const std::string reason = epi::torch::register_kernels();
  return reason.c_str();
}

const char* epi_torch_prepare(const epi_glu_block* block) {
  return epi::torch::glu_block(*block).reason.c_str();
}
}
