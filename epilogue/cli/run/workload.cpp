// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run/workload.h"

#include <memory>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/base/machine.h"
#include "epilogue/base/result.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/hub/prebuilt_glu_mlp.h"
#include "epilogue/nn/checkpoint.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/nn/quantize.h"
#include "epilogue/ops/functional.h"
#include "epilogue/report/text/units.h"
#include "epilogue/tensor/factories.h"

namespace epi::cli {
namespace {

constexpr uint64_t kInputSeed = 1000;
constexpr uint64_t kWeightSeed = 1;

// A GPU's total memory. Memory in use by other processes is only noticed when an allocation fails.
int64_t memory_bytes(Device device) {
  if (device == kCpu) return available_memory_bytes();
  const auto found = cuda::devices();
  return found ? found->at(static_cast<size_t>(device.index)).memory_bytes : 0;
}

void check_memory(const RunFlags& flags, double elements, DType dtype, Device device) {
  const double needed = elements * static_cast<double>(size_bytes(dtype));
  const auto available = static_cast<double>(memory_bytes(device));
  if (needed <= available) return;
  fail("run", "{} of these sizes needs {} of memory, only {} is available", flags.workload,
       report::bytes_text(needed), report::bytes_text(available));
}

// As a double, which cannot overflow: the count is only compared with the available memory.
double element_count(std::initializer_list<int64_t> sizes) {
  double result = 1;
  for (const int64_t size : sizes) result *= static_cast<double>(size);
  return result;
}

// Shape and origin of the weights: random with the sizes of the flags, or loaded from a checkpoint.
struct Weights {
  int64_t rows = 0;  // of the first weight matrix
  int64_t columns = 0;
  bool bias = false;
  DType dtype = DType::kF32;
  std::shared_ptr<nn::Checkpoint> checkpoint;  // null: random weights
  Device device = kCpu;                        // where the block runs
  bool is_int8 = false;                        // in the checkpoint
};

bool has_int8(const RunFlags& flags, const Weights& weights) {
  return weights.is_int8 || !flags.int8.empty();
}
DType gemm_dtype(const RunFlags& flags, const Weights& weights) {
  return has_int8(flags, weights) && !flags.float_input ? DType::kI8 : weights.dtype;
}
std::string int8_title(const RunFlags& flags, const Weights& weights) {
  if (!has_int8(flags, weights)) return "";
  const char* scales = flags.int8 == "rows"     ? " by rows"
                       : flags.int8 == "groups" ? " in groups of 32"
                                                : "";
  return fmt::format(", int8 weights{}{}", scales, flags.float_input ? ", float input" : "");
}

// Throws for flags that do not fit the weights.
void check_int8(const RunFlags& flags, const Weights& weights) {
  if (!flags.int8.empty() && flags.int8 != "groups" && flags.int8 != "rows") {
    fail("run", "--int8 {}: must be one of groups, rows", flags.int8);
  }
  if (!flags.int8.empty() && weights.is_int8) {
    fail("run", "--int8 {}: the weights of {} are int8 already", flags.int8, flags.weights);
  }
  if (flags.float_input && !has_int8(flags, weights)) {
    fail("run", "--float-input: needs int8 weights (--int8)");
  }
  if (has_int8(flags, weights) && weights.device != kCpu) {
    fail("run", "int8 weights run on the CPU only: use --device cpu");
  }
}

// The parts of the tensor names in a checkpoint before "weight".
std::vector<std::string> layers_of(const RunFlags& flags) {
  if (flags.workload == "mlp") return {"gate_proj.", "up_proj.", "down_proj."};
  return {""};
}

Result<void> check_matrix(const RunFlags& flags, const std::string& name, const Tensor& tensor) {
  const std::string place = fmt::format("{}: tensor \"{}{}\"", flags.weights, flags.prefix, name);
  if (tensor.dim() != 2) {
    return failure("{} is {}-dimensional, a weight must be 2-dimensional", place, tensor.dim());
  }
  if (tensor.dtype() == DType::kI8) return {};
  if (!is_floating(tensor.dtype())) {
    return failure("{} is {}, a weight must have a floating-point dtype or be int8", place,
                   epi::name(tensor.dtype()));
  }
  return {};
}

Result<void> check_dtype(const RunFlags& flags, const std::string& name, const Tensor& tensor) {
  const auto requested = parse_dtype(flags.dtype);
  if (!requested || *requested == tensor.dtype()) return {};
  return failure("{}: tensor \"{}{}\" is {}, but --dtype is {}", flags.weights, flags.prefix, name,
                 epi::name(tensor.dtype()), epi::name(*requested));
}

// Whether the layers have a bias. A failure if only some of them have one.
Result<bool> find_bias(const RunFlags& flags, const nn::Checkpoint& checkpoint,
                       const std::vector<std::string>& layers) {
  size_t found = 0;
  for (const auto& layer : layers) found += checkpoint.contains(flags.prefix + layer + "bias");
  if (found != 0 && found != layers.size()) {
    return failure("{}: {} of {} layers under \"{}\" have a bias, but all or none must have one",
                   flags.weights, found, layers.size(), flags.prefix);
  }
  return found != 0;
}

// Without --weights, `random` with its dtype filled in. Otherwise the sizes, bias and dtype of the
// checkpoint, taken from the first layer.
Result<Weights> find_weights(const RunFlags& given, Weights random) {
  RunFlags flags = given;
  const auto layers = layers_of(flags);
  random.dtype = parse_dtype(flags.dtype).value_or(default_dtype(random.device));
  if (flags.weights.empty()) return random;
  auto checkpoint = nn::Checkpoint::open(flags.weights);
  EPI_TRY(checkpoint);
  const std::string name = layers.front() + "weight";
  flags.prefix = checkpoint->find_prefix(flags.prefix, name);
  const auto tensor = checkpoint->tensor(flags.prefix + name);
  EPI_TRY(tensor);
  EPI_TRY(check_matrix(flags, name, *tensor));
  const auto bias = find_bias(flags, *checkpoint, layers);
  EPI_TRY(bias);
  Weights weights = random;
  weights.rows = tensor->size(0);
  weights.columns = tensor->size(1);
  weights.bias = *bias && !flags.no_bias;
  for (const char* parameter : {"bias", "weight"}) {  // a weight overrides a bias
    for (const std::string& layer : layers) {
      const std::string place = layer + parameter;
      if (!checkpoint->contains(flags.prefix + place)) continue;
      const auto stored = checkpoint->tensor(flags.prefix + place);
      EPI_TRY(stored);
      weights.is_int8 |= stored->dtype() == DType::kI8;
      if (!is_floating(stored->dtype())) continue;
      EPI_TRY(check_dtype(flags, place, *stored));
      weights.dtype = stored->dtype();
    }
  }
  weights.checkpoint = std::make_shared<nn::Checkpoint>(std::move(*checkpoint));
  return weights;
}

void check_agrees(const char* flag, const std::optional<int64_t>& given, int64_t in_weights) {
  if (given && *given != in_weights) {
    fail("run", "{} {}: the weights have {}", flag, *given, in_weights);
  }
}

// `module` with its parameters loaded or initialized at random, on the device where it runs.
Result<Block> module_block(const std::shared_ptr<nn::Module>& module, const RunFlags& flags,
                           const Weights& weights) {
  const auto layers = module->layers();
  if (!weights.checkpoint) {
    nn::init_normal(*module, kWeightSeed);
  } else {
    const nn::Checkpoint& checkpoint = *weights.checkpoint;
    const std::string prefix =
        checkpoint.find_prefix(flags.prefix, module->parameters().front().name);
    for (const auto& [name, layer] : layers) {
      EPI_TRY(layer->declare_int8(checkpoint, prefix + name + (name.empty() ? "" : ".")));
    }
    EPI_TRY(module->load(checkpoint, flags.prefix));
  }
  if (!flags.int8.empty()) nn::quantize(*module, {.in_groups = flags.int8 == "groups"});
  for (const auto& [name, layer] : layers) layer->int8_input = !flags.float_input;
  module->to(weights.device);
  Block block;
  block.function = [module](std::span<const Tensor> inputs) { return module->forward(inputs[0]); };
  for (const auto& parameter : module->parameters()) {
    block.parameters.push_back({parameter.name, *parameter.tensor});
  }
  return block;
}

std::function<std::vector<Tensor>()> one_input(const Dims& shape, const Weights& weights) {
  const TensorOptions options{weights.dtype, weights.device};
  return [=] { return std::vector{randn(shape, kInputSeed, options)}; };
}

Result<Workload> plan_linear(const RunFlags& flags, const RunSizes& sizes, Device device) {
  const auto found = find_weights(
      flags,
      {sizes.out_dim.value_or(64), sizes.in_dim.value_or(32), !flags.no_bias, {}, {}, device});
  EPI_TRY(found);
  const Weights& weights = *found;
  check_int8(flags, weights);
  check_agrees("--out-dim", sizes.out_dim, weights.rows);
  check_agrees("--in-dim", sizes.in_dim, weights.columns);
  const Dims shape{sizes.batch.value_or(1024), weights.columns};
  // Initializing random weights briefly needs a second copy. A compiled block also keeps a packed
  // copy.
  check_memory(flags,
               2 * element_count({weights.rows, weights.columns}) +
                   element_count({shape[0], shape[1]}) +
                   (flags.compile ? element_count({weights.rows, weights.columns}) : 0) +
                   element_count({shape[0], weights.rows}),
               weights.dtype, device);
  return Workload{
      fmt::format("Linear {} -> {}{}, x {}{}", weights.columns, weights.rows,
                  weights.bias ? " with bias" : "", to_string(shape), int8_title(flags, weights)),
      "linear_fwd",
      weights.dtype,
      device,
      gemm_dtype(flags, weights),
      fmt::format("linear {} {}", weights.columns, weights.rows),
      [=]() -> Result<Block> {
        const auto layer = std::make_shared<nn::Linear>(weights.columns, weights.rows, weights.bias,
                                                        weights.dtype);
        return module_block(layer, flags, weights);
      },
      one_input(shape, weights)};
}

nn::GluActivation parse_activation(const std::string& text) {
  const auto activation = nn::glu_activation_from_name(text);
  if (!activation) fail("run", "--activation {}: must be geglu, geglu_erf or swiglu", text);
  return *activation;
}

Result<Workload> plan_mlp(const RunFlags& flags, const RunSizes& sizes, Device device) {
  const nn::GluActivation activation = parse_activation(flags.activation);
  const auto found = find_weights(
      flags, {sizes.hidden.value_or(3072), sizes.dim.value_or(768), false, {}, {}, device});
  EPI_TRY(found);
  const Weights& weights = *found;
  check_int8(flags, weights);
  check_agrees("--hidden", sizes.hidden, weights.rows);
  check_agrees("--dim", sizes.dim, weights.columns);
  const Dims shape{sizes.batch.value_or(64), sizes.seq.value_or(128), weights.columns};
  // Three weights, and a fourth while random weights are initialized; a compiled block keeps a
  // packed copy of all three. Four hidden activations are live at once: gate, up, the activation
  // and the product.
  check_memory(flags,
               (flags.compile ? 7 : 4) * element_count({weights.rows, weights.columns}) +
                   2 * element_count({shape[0], shape[1], shape[2]}) +
                   4 * element_count({shape[0], shape[1], weights.rows}),
               weights.dtype, device);
  const char* kind = activation == nn::GluActivation::kSilu ? "SwiGLU" : "GeGLU";
  return Workload{fmt::format("{} MLP, x {}, hidden {}{}", kind, to_string(shape), weights.rows,
                              int8_title(flags, weights)),
                  "mlp_fwd",
                  weights.dtype,
                  device,
                  gemm_dtype(flags, weights),
                  fmt::format("mlp {} {}", weights.columns, weights.rows),
                  [=]() -> Result<Block> {
                    const auto mlp = std::make_shared<nn::GluMlp>(
                        weights.columns, weights.rows, activation, weights.bias, weights.dtype);
                    auto block = module_block(mlp, flags, weights);
                    if (!block) return block;
                    block->mlp = mlp;
                    if (!flags.kernels.empty()) {
                      const auto kernels = load_kernels(flags.kernels, device, flags.hub);
                      block->function = prebuilt_function(*block, kernels);
                    }
                    return block;
                  },
                  one_input(shape, weights)};
}

// x [rows, size], w [size, cols], b [rows, cols]. With --bias, b is [cols] and a parameter like w.
Result<Workload> plan_matmul_add(const RunFlags& flags, const RunSizes& sizes, Device device) {
  const int64_t size = sizes.size.value_or(1024);
  const int64_t rows = sizes.rows.value_or(size);
  const int64_t cols = sizes.cols.value_or(size);
  const bool bias = flags.bias;
  const bool transposed = flags.layout == "tn";
  if (!transposed && flags.layout != "nn") {
    fail("run", "--layout {}: must be nn or tn", flags.layout);
  }
  const DType dtype = parse_dtype(flags.dtype).value_or(default_dtype(device));
  check_memory(
      flags,
      element_count({rows, size}) + element_count({size, cols}) + 3 * element_count({rows, cols}),
      dtype, device);
  const auto random = [=](const Dims& shape, uint64_t seed) {
    return randn(shape, seed, {dtype, device});
  };
  const auto make_block = [=]() -> Result<Block> {
    const Tensor w =
        transposed ? t(random({cols, size}, kWeightSeed)) : random({size, cols}, kWeightSeed);
    if (!bias) {
      const auto function = [w](std::span<const Tensor> in) {
        return add(matmul(in[0], w), in[1]);
      };
      return Block{function, {{"w", w}}};
    }
    const Tensor b = random({cols}, kWeightSeed + 1);
    const auto function = [w, b](std::span<const Tensor> in) { return add(matmul(in[0], w), b); };
    return Block{function, {{"w", w}, {"b", b}}};
  };
  const auto make_inputs = [=] {
    std::vector<Tensor> inputs = {random({rows, size}, kInputSeed)};
    if (!bias) inputs.push_back(random({rows, cols}, kWeightSeed + 1));
    return inputs;
  };
  const bool square = rows == size && cols == size && !bias;
  const std::string shapes = square
                                 ? fmt::format("all [{0}, {0}]", size)
                                 : fmt::format("x [{}, {}], w [{}, {}], b [{}{}]", rows, size, size,
                                               cols, bias ? "" : fmt::format("{}, ", rows), cols);
  return Workload{
      fmt::format("add(matmul(x, w), b), {}{}", shapes, transposed ? ", w transposed" : ""),
      "matmul_add",
      dtype,
      device,
      dtype,
      fmt::format("matmul_add {} {}", size, cols),
      make_block,
      make_inputs};
}

}  // namespace

bool has_int8_weights(const RunFlags& flags) {
  if (!flags.int8.empty()) return true;
  if (flags.weights.empty()) return false;
  const auto checkpoint = nn::Checkpoint::open(flags.weights);
  if (!checkpoint) return false;
  const auto layers = layers_of(flags);
  const std::string prefix = checkpoint->find_prefix(flags.prefix, layers.front() + "weight");
  return std::any_of(layers.begin(), layers.end(), [&](const std::string& layer) {
    const std::string name = prefix + layer + "weight";
    if (!checkpoint->contains(name)) return false;
    const auto weight = checkpoint->tensor(name);
    return weight && weight->dtype() == DType::kI8;
  });
}

compiler::TensorFunction prebuilt_function(const Block& block, const hub::Kernels& kernels) {
  const auto layer = std::make_shared<hub::GluMlp>(*block.mlp, kernels);
  return [layer](std::span<const Tensor> inputs) { return layer->forward(inputs[0]); };
}

Result<Workload> plan_workload(const RunFlags& flags, const RunSizes& sizes, Device device) {
  if (!flags.prefix.empty() && flags.weights.empty()) {
    fail("run", "--prefix {}: needs --weights", flags.prefix);
  }
  if (flags.workload == "linear") return plan_linear(flags, sizes, device);
  if (flags.workload == "mlp") return plan_mlp(flags, sizes, device);
  return plan_matmul_add(flags, sizes, device);
}

}  // namespace epi::cli
