// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/workload.h"

#include <memory>

#include "epilogue/base/error.h"
#include "epilogue/base/machine.h"
#include "epilogue/nn/checkpoint.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/report/units.h"
#include "epilogue/tensor/factories.h"

namespace epi::cli {
namespace {

constexpr uint64_t kInputSeed = 1000;
constexpr uint64_t kWeightSeed = 1;

void check_memory(const RunFlags& flags, double elements, DType dtype) {
  const double needed = elements * static_cast<double>(size_bytes(dtype));
  const auto available = static_cast<double>(available_memory_bytes());
  if (needed <= available) return;
  fail("run", "{} of these sizes needs {} of memory, {} are available", flags.workload,
       report::bytes_text(needed), report::bytes_text(available));
}

// Products of sizes as doubles: they only need to be compared, and cannot overflow.
double product(std::initializer_list<int64_t> sizes) {
  double result = 1;
  for (const int64_t size : sizes) result *= static_cast<double>(size);
  return result;
}

Result<std::unique_ptr<nn::Checkpoint>> open_weights(const RunFlags& flags) {
  if (flags.weights.empty()) return std::unique_ptr<nn::Checkpoint>();
  auto checkpoint = nn::Checkpoint::open(flags.weights);
  if (!checkpoint) return tl::unexpected(checkpoint.error());
  return std::make_unique<nn::Checkpoint>(std::move(*checkpoint));
}

// The shape and dtype of a weight matrix decide what was not given; what was given must agree.
struct WeightFacts {
  int64_t rows = 0;
  int64_t columns = 0;
  DType dtype = DType::kF32;
};

Result<WeightFacts> weight_facts(const RunFlags& flags, const nn::Checkpoint& checkpoint,
                                 const std::string& name) {
  const auto tensor = checkpoint.tensor(flags.prefix + name);
  if (!tensor) return tl::unexpected(tensor.error());
  if (tensor->dim() != 2) {
    return failure("{}: tensor \"{}{}\" has {} dimensions, a weight needs 2", flags.weights,
                   flags.prefix, name, tensor->dim());
  }
  const auto asked = parse_dtype(flags.dtype);
  if (asked && *asked != tensor->dtype()) {
    return failure("{}: tensor \"{}{}\" is {}, and --dtype asks for {}", flags.weights,
                   flags.prefix, name, epi::name(tensor->dtype()), epi::name(*asked));
  }
  return WeightFacts{tensor->size(0), tensor->size(1), tensor->dtype()};
}

void check_agrees(const char* flag, const std::optional<int64_t>& given, int64_t in_weights) {
  if (given && *given != in_weights) {
    fail("run", "{} {}: the weights have {}", flag, *given, in_weights);
  }
}

// Loads `module`'s parameters, or makes them up.
Result<void> fill(nn::Module& module, const RunFlags& flags, const nn::Checkpoint* checkpoint) {
  if (checkpoint != nullptr) return module.load(*checkpoint, flags.prefix);
  nn::init_normal(module, kWeightSeed);
  return {};
}

Result<Workload> make_linear(const RunFlags& flags, const RunSizes& sizes) {
  auto checkpoint = open_weights(flags);
  if (!checkpoint) return tl::unexpected(checkpoint.error());
  const nn::Checkpoint* weights = checkpoint->get();
  WeightFacts facts{sizes.out_dim.value_or(64), sizes.in_dim.value_or(32),
                    parse_dtype(flags.dtype).value_or(DType::kF32)};
  bool bias = true;
  if (weights != nullptr) {
    const auto found = weight_facts(flags, *weights, "weight");
    if (!found) return tl::unexpected(found.error());
    facts = *found;
    bias = weights->contains(flags.prefix + "bias");
  }
  check_agrees("--out-dim", sizes.out_dim, facts.rows);
  check_agrees("--in-dim", sizes.in_dim, facts.columns);
  const int64_t rows = sizes.batch.value_or(1024);
  check_memory(flags,
               product({facts.rows, facts.columns}) + product({rows, facts.columns}) +
                   product({rows, facts.rows}),
               facts.dtype);
  auto layer = std::make_shared<nn::Linear>(facts.columns, facts.rows, bias, facts.dtype);
  if (const auto filled = fill(*layer, flags, weights); !filled) {
    return tl::unexpected(filled.error());
  }
  const Tensor x = randn({rows, facts.columns}, kInputSeed, {facts.dtype, kCpu});
  return Workload{fmt::format("Linear {} -> {}{}, x {}", facts.columns, facts.rows,
                              bias ? " with bias" : "", to_string(x.shape())),
                  "linear_fwd", facts.dtype, [layer, x] { return layer->forward(x); }};
}

Result<Workload> make_mlp(const RunFlags& flags, const RunSizes& sizes) {
  const auto activation = nn::glu_activation_from_name(flags.activation);
  if (!activation) fail("run", "--activation {}: must be geglu or swiglu", flags.activation);
  auto checkpoint = open_weights(flags);
  if (!checkpoint) return tl::unexpected(checkpoint.error());
  const nn::Checkpoint* weights = checkpoint->get();
  WeightFacts facts{sizes.hidden.value_or(3072), sizes.dim.value_or(768),
                    parse_dtype(flags.dtype).value_or(DType::kF32)};
  bool bias = false;
  if (weights != nullptr) {
    const auto found = weight_facts(flags, *weights, "gate_proj.weight");
    if (!found) return tl::unexpected(found.error());
    facts = *found;
    bias = weights->contains(flags.prefix + "gate_proj.bias");
  }
  check_agrees("--hidden", sizes.hidden, facts.rows);
  check_agrees("--dim", sizes.dim, facts.columns);
  const int64_t batch = sizes.batch.value_or(64);
  const int64_t seq = sizes.seq.value_or(128);
  // Gate, up, the activation and their product are alive at once.
  check_memory(flags,
               3 * product({facts.rows, facts.columns}) + 2 * product({batch, seq, facts.columns}) +
                   4 * product({batch, seq, facts.rows}),
               facts.dtype);
  auto mlp =
      std::make_shared<nn::GluMlp>(facts.columns, facts.rows, *activation, bias, facts.dtype);
  if (const auto filled = fill(*mlp, flags, weights); !filled) {
    return tl::unexpected(filled.error());
  }
  const Tensor x = randn({batch, seq, facts.columns}, kInputSeed, {facts.dtype, kCpu});
  const char* kind = *activation == nn::GluActivation::kSilu ? "SwiGLU" : "GeGLU";
  return Workload{fmt::format("{} MLP, x {}, hidden {}", kind, to_string(x.shape()), facts.rows),
                  "mlp_fwd", facts.dtype, [mlp, x] { return mlp->forward(x); }};
}

Result<Workload> make_matmul_add(const RunFlags& flags, const RunSizes& sizes) {
  if (!flags.weights.empty()) fail("run", "--weights: matmul-add has no weights to load");
  const int64_t size = sizes.size.value_or(1024);
  const DType dtype = parse_dtype(flags.dtype).value_or(DType::kF32);
  check_memory(flags, 5 * product({size, size}), dtype);
  const TensorOptions options{dtype, kCpu};
  const Tensor x = randn({size, size}, kInputSeed, options);
  const Tensor w = randn({size, size}, kWeightSeed, options);
  const Tensor b = randn({size, size}, kWeightSeed + 1, options);
  return Workload{fmt::format("add(matmul(x, w), b), all [{0}, {0}]", size), "matmul_add", dtype,
                  [=] { return add(matmul(x, w), b); }};
}

}  // namespace

Result<Workload> make_workload(const RunFlags& flags, const RunSizes& sizes) {
  if (flags.workload == "linear") return make_linear(flags, sizes);
  if (flags.workload == "mlp") return make_mlp(flags, sizes);
  return make_matmul_add(flags, sizes);
}

}  // namespace epi::cli
