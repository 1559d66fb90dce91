// SPDX-License-Identifier: Apache-2.0
// One block on the GPU for bench/against_torch.py: reads weights and an input, writes the output,
// and prints what a forward takes as one JSON object.
//   gpu_forward linear|mlp WEIGHTS.safetensors INPUT.safetensors OUTPUT.safetensors
//   gpu_forward gelu COUNT
//   gpu_forward host: what the parts of a small operator take the CPU
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "epilogue/base/clock.h"
#include "epilogue/cpu/backend.h"
#include "epilogue/cuda/backend.h"
#include "epilogue/cuda/device.h"
#include "epilogue/cuda/gemm.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/nn/safetensors.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

constexpr int kIssues = 101;
constexpr int kRounds = 9;
constexpr int kInARow = 200;

using Body = std::function<void()>;

template <typename T>
T need(Result<T> result) {
  if (!result) throw Error(result.error().message);
  return std::move(*result);
}

struct Spread {
  double median;
  double least;
  double most;
};

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

// The CPU's microseconds to start one, the device idle before.
Spread issue_us(const Body& body) {
  std::vector<double> times;
  for (int i = 0; i < kIssues; ++i) {
    cuda::synchronize();
    const int64_t start_ns = now_ns();
    body();
    times.push_back(static_cast<double>(now_ns() - start_ns) / 1000);
  }
  return spread_of(std::move(times));
}

// The device's microseconds from the start of one to the start of the next, many in a row.
Spread wall_us(const Body& body) {
  const cuda::Event start(cuda::Event::Timing::kOn);
  const cuda::Event end(cuda::Event::Timing::kOn);
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) body();
  for (int round = 0; round < kRounds; ++round) {
    start.record(cuda::current_stream());
    for (int i = 0; i < kInARow; ++i) body();
    end.record(cuda::current_stream());
    end.synchronize();
    times.push_back(static_cast<double>(end.ms_since(start)) * 1000 / kInARow);
  }
  return spread_of(std::move(times));
}

void print(const char* name, const Spread& spread, const char* after) {
  fmt::print("\"{0}\": {1:.3f}, \"{0}_min\": {2:.3f}, \"{0}_max\": {3:.3f}{4}", name, spread.median,
             spread.least, spread.most, after);
}

void forward(const std::string& kind, const char* weights, const char* input, const char* output) {
  const auto checkpoint = need(nn::Checkpoint::open(weights));
  const Tensor x = to(need(need(nn::SafetensorsFile::open(input)).tensor("x")), kCuda);
  std::unique_ptr<nn::Module> module;
  if (kind == "linear") {
    const Tensor weight = need(checkpoint.tensor("weight"));
    module = std::make_unique<nn::Linear>(weight.size(1), weight.size(0), true, weight.dtype());
  } else {
    const Tensor gate = need(checkpoint.tensor("gate_proj.weight"));
    module = std::make_unique<nn::GluMlp>(gate.size(1), gate.size(0), nn::GluActivation::kGeluTanh,
                                          false, gate.dtype());
  }
  if (auto loaded = module->load(checkpoint); !loaded) throw Error(loaded.error().message);
  module->to(kCuda);
  const std::vector<std::pair<std::string, Tensor>> result{{"y", to(module->forward(x), kCpu)}};
  if (auto saved = nn::save_safetensors(output, result); !saved) throw Error(saved.error().message);
  const Body body = [&] { module->forward(x); };
  const Spread wall = wall_us(body);
  fmt::print("{{");
  print("wall_us", wall, ", ");
  print("issue_us", issue_us(body), "}\n");
}

void gelu_against_copy(int64_t count) {
  const Tensor x = randn({count}, 1, {DType::kBF16, kCuda});
  const Tensor y = empty({count}, {DType::kBF16, kCuda});
  fmt::print("{{");
  print("gelu_us", wall_us([&] { gelu(x, "tanh"); }), ", ");
  print("copy_us", wall_us([&] { copy_(y, x); }), "}\n");
}

// The CPU's nanoseconds for one call, by a few hundred in a row that the device's queue holds.
double host_ns(const Body& body) {
  constexpr int kCalls = 300;
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    cuda::synchronize();
    const int64_t start_ns = now_ns();
    for (int i = 0; i < kCalls; ++i) body();
    times.push_back(static_cast<double>(now_ns() - start_ns) / kCalls);
  }
  return spread_of(std::move(times)).median;
}

// What parts of a small operator take the CPU.
void host_parts() {
  const TensorOptions options{DType::kBF16, kCuda};
  const Tensor x = randn({128, 64}, 1, options);
  const Tensor w = randn({256, 64}, 2, options);
  const Tensor h = randn({128, 256}, 3, options);
  const Tensor bias = randn({256}, 4, options);
  cuda::Gemm gemm;  // what is left of mm when its output and its operands are there
  gemm.dtype = DType::kBF16;
  gemm.m = 128;
  gemm.n = 256;
  gemm.k = 64;
  gemm.a = as_matrix(x).value();
  gemm.b = as_matrix(t(w)).value();
  gemm.out = h.raw_data();
  gemm.ld_out = 256;
  const std::vector<std::pair<const char*, Body>> parts{
      {"empty", [&] { empty({128, 256}, options); }},
      {"is_capturing", [] { cuda::current_stream().is_capturing(); }},
      {"t", [&] { t(w); }},
      {"gelu", [&] { gelu(h, "tanh"); }},
      {"mul", [&] { mul(h, h); }},
      {"try_gemm", [&] { cuda::try_gemm(gemm, 0); }},
      {"mm", [&] { mm(x, t(w)); }},
      {"linear", [&] { linear(x, w); }},
      {"linear_bias", [&] { linear(x, w, bias); }}};
  for (const auto& [name, body] : parts) fmt::print("{:<14}{:8.0f} ns\n", name, host_ns(body));
}

int run(int argc, char** argv) {
  register_cpu_backend();
  if (const auto ready = register_cuda_backend(); !ready) throw Error(ready.error().message);
  const std::string kind = argc > 1 ? argv[1] : "";
  if (kind == "host") {
    host_parts();
  } else if (kind == "gelu" && argc == 3) {
    gelu_against_copy(std::stoll(argv[2]));
  } else if ((kind == "linear" || kind == "mlp") && argc == 5) {
    forward(kind, argv[2], argv[3], argv[4]);
  } else {
    throw Error("usage: gpu_forward linear|mlp WEIGHTS INPUT OUTPUT, gelu COUNT, or host");
  }
  return 0;
}

}  // namespace
}  // namespace epi::bench

int main(int argc, char** argv) {
  try {
    return epi::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_forward: {}\n", error.what());
    return 2;
  }
}
