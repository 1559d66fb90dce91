// SPDX-License-Identifier: Apache-2.0
// One block on the GPU for bench/against_torch.py: reads weights and an input, writes the output,
// and prints the times of a forward as one JSON object.
//   gpu_forward linear|geglu|swiglu WEIGHTS.safetensors INPUT.safetensors OUTPUT.safetensors
//   gpu_forward sweep WEIGHTS.safetensors M[,M...]: one compiled MLP over many sizes
//   gpu_forward rates N K M[,M...]: our gate, up and gelu against a cuBLASLt GEMM alone
//   gpu_forward gelu COUNT
//   gpu_forward first WEIGHTS.safetensors: the first call of a compiled GeGLU MLP
//   gpu_forward host: the host time of the parts of small operators and blocks
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "epilogue/base/clock.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/cuda_backend.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/cuda/gemm.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/nn/safetensors.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

constexpr int kIssueCalls = 101;
constexpr int kRounds = 9;
constexpr double kRoundUs = 20000;  // minimum duration of a round
// The pause between rounds: EPI_PAUSE_MS, 50 by default.
std::chrono::milliseconds pause() {
  const char* text = std::getenv("EPI_PAUSE_MS");
  return std::chrono::milliseconds(text == nullptr ? 50 : std::atoi(text));
}

using Body = std::function<void()>;

template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) throw Error(result.error().message);
  return std::move(*result);
}

struct Spread {
  double median;
  double min;
  double max;
};

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

// Host time in microseconds to enqueue one forward while the GPU is idle.
Spread issue_us(const Body& body) {
  std::vector<double> times;
  for (int i = 0; i < kIssueCalls; ++i) {
    cuda::synchronize();
    const int64_t start_ns = now_ns();
    body();
    times.push_back(static_cast<double>(now_ns() - start_ns) / 1000);
  }
  return spread_of(std::move(times));
}

// GPU time in microseconds per forward, many back to back. Pauses before each round, because at its
// power limit a GPU runs every GEMM at the same speed.
Spread wall_us(const Body& body, int rounds = kRounds) {
  const cuda::Event start(cuda::Event::Timing::kOn);
  const cuda::Event end(cuda::Event::Timing::kOn);
  const auto timed = [&](int calls) {
    start.record(cuda::current_stream());
    for (int i = 0; i < calls; ++i) body();
    end.record(cuda::current_stream());
    end.synchronize();
    return static_cast<double>(end.ms_since(start)) * 1000 / calls;
  };
  timed(20);
  const int calls_per_round = std::clamp(static_cast<int>(kRoundUs / timed(20)), 20, 2000);
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    std::this_thread::sleep_for(pause());
    times.push_back(timed(calls_per_round));
  }
  return spread_of(std::move(times));
}

void print(const char* name, const Spread& spread, const char* after) {
  fmt::print("\"{0}\": {1:.3f}, \"{0}_min\": {2:.3f}, \"{0}_max\": {3:.3f}{4}", name, spread.median,
             spread.min, spread.max, after);
}

nn::GluMlp load_mlp(const nn::Checkpoint& checkpoint, nn::GluActivation activation) {
  const Tensor gate = value_or_throw(checkpoint.tensor("gate_proj.weight"));
  nn::GluMlp mlp(gate.size(1), gate.size(0), activation, false, gate.dtype());
  if (auto loaded = mlp.load(checkpoint); !loaded) throw Error(loaded.error().message);
  mlp.to(kCuda);
  return mlp;
}

nn::Linear load_linear(const nn::Checkpoint& checkpoint) {
  const Tensor weight = value_or_throw(checkpoint.tensor("weight"));
  nn::Linear layer(weight.size(1), weight.size(0), true, weight.dtype());
  if (auto loaded = layer.load(checkpoint); !loaded) throw Error(loaded.error().message);
  layer.to(kCuda);
  return layer;
}

// Cycles through four inputs. Weights, intermediates and results exceed the L2, except for the
// smallest shape, which fits into it on both sides of a comparison.
template <typename Forward>
void print_mode(const char* name, const std::vector<Tensor>& inputs, const Forward& forward,
                const char* after) {
  cuda::synchronize();
  const int64_t start_ns = now_ns();
  forward(inputs[0]);
  cuda::synchronize();
  const double first_ms = static_cast<double>(now_ns() - start_ns) * 1e-6;
  size_t next = 0;
  const Body in_turn = [&] { forward(inputs[next++ % inputs.size()]); };
  for (int i = 0; i < 12; ++i) in_turn();
  fmt::print("\"{}\": {{\"first_call_ms\": {:.3f}, ", name, first_ms);
  print("wall_us", wall_us(in_turn), ", ");
  print("issue_us", issue_us([&] { forward(inputs[0]); }), "}");
  fmt::print("{}", after);
}

template <typename M>
void forward(const M& module, const char* input, const char* output) {
  const Tensor x =
      to(value_or_throw(value_or_throw(nn::SafetensorsFile::open(input)).tensor("x")), kCuda);
  const std::vector<Tensor> inputs = {x, clone(x), clone(x), clone(x)};
  const Compiled pointwise = compile(module, {.fuse = Fuse::kPointwise, .cache = false});
  const Compiled stacked = compile(module, {.cache = false});
  const Compiled graph = compile(module, {.cache = false, .graph = true});
  const auto run_eager = [&](const Tensor& in) { module.forward(in); };
  const auto run_pointwise = [&](const Tensor& in) { pointwise(in); };
  const auto run_stacked = [&](const Tensor& in) { stacked(in); };
  const auto run_graph = [&](const Tensor& in) { graph(in); };
  fmt::print("{{");
  print_mode("eager", inputs, run_eager, ", ");
  print_mode("pointwise", inputs, run_pointwise, ", ");
  print_mode("compile", inputs, run_stacked, ", ");
  print_mode("graph", inputs, run_graph, "}\n");
  const std::vector<std::pair<std::string, Tensor>> results{{"eager", to(module.forward(x), kCpu)},
                                                            {"pointwise", to(pointwise(x), kCpu)},
                                                            {"compile", to(stacked(x), kCpu)},
                                                            {"graph", to(graph(x), kCpu)}};
  if (auto saved = nn::save_safetensors(output, results); !saved) {
    throw Error(saved.error().message);
  }
}

// ||a - b|| / ||b||.
double difference(const Tensor& a, const Tensor& b) {
  const Tensor x = to(to(a, kCpu), DType::kF64);
  const Tensor y = to(to(b, kCpu), DType::kF64);
  double apart = 0;
  double whole = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double d = x.data<double>()[i] - y.data<double>()[i];
    apart += d * d;
    whole += y.data<double>()[i] * y.data<double>()[i];
  }
  return std::sqrt(apart / whole);
}

void sweep(const char* weights, const std::vector<int64_t>& sizes) {
  const nn::GluMlp mlp =
      load_mlp(value_or_throw(nn::Checkpoint::open(weights)), nn::GluActivation::kGeluTanh);
  const Compiled compiled = compile(mlp, {.cache = false});
  fmt::print("{{\"sizes\": [");
  const char* comma = "";
  for (const int64_t m : sizes) {
    const Tensor x = randn({m, mlp.gate_proj.weight.size(1)}, 1, {DType::kBF16, kCuda});
    const double apart = difference(compiled(x), mlp.forward(x));
    fmt::print("{}{{\"m\": {}, \"difference\": {:.6f}, ", comma, m, apart);
    print("wall_us", wall_us([&] { compiled(x); }), "}");
    comma = ", ";
  }
  fmt::print("], \"recompiles\": {}}}\n", compiled.recompiles());
}

// A bare mm: the operands and the output are already allocated.
cuda::Gemm bare_gemm(const Tensor& x, const Tensor& w, const Tensor& out) {
  cuda::Gemm gemm;
  gemm.dtype = DType::kBF16;
  gemm.m = x.size(0);
  gemm.n = w.size(0);
  gemm.k = x.size(1);
  gemm.a = as_matrix(x).value();
  gemm.b = as_matrix(t(w)).value();
  gemm.out = out.raw_data();
  gemm.ld_out = gemm.n;
  return gemm;
}

std::vector<int64_t> parse_numbers(const std::string& text) {
  std::vector<int64_t> numbers;
  std::string item;
  for (std::istringstream stream(text); std::getline(stream, item, ',');) {
    numbers.push_back(std::stoll(item));
  }
  return numbers;
}

// Alternates the two sides every round, because the clock depends on the temperature. Uses four
// sets of buffers.
void rate(int64_t m, int64_t n, int64_t k) {
  const TensorOptions options{DType::kBF16, kCuda};
  const Tensor weights = mul(randn({2 * n, k}, 1, options), 1 / std::sqrt(static_cast<double>(k)));
  const Tensor gate = slice(weights, 0, 0, n);
  const Tensor up = slice(weights, 0, n, 2 * n);
  const auto glu = [=](std::span<const Tensor> in) {
    return mul(gelu(linear(in[0], gate), "tanh"), linear(in[0], up));
  };
  const Compiled compiled(glu, {{"gate", gate}, {"up", up}}, {});
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  for (uint64_t i = 0; i < 4; ++i) {
    inputs.push_back(randn({m, k}, i, options));
    outputs.push_back(empty({m, 2 * n}, options));
  }
  size_t next = 0;
  const Body ours = [&] { compiled(inputs[next++ % 4]); };
  const Body library = [&] {
    const size_t i = next++ % 4;
    cuda::try_gemm(bare_gemm(inputs[i], weights, outputs[i]), 0);
  };
  std::vector<double> our_us;
  std::vector<double> library_us;
  for (int round = 0; round < kRounds; ++round) {
    our_us.push_back(wall_us(ours, 1).median);
    library_us.push_back(wall_us(library, 1).median);
  }
  fmt::print("{{\"m\": {}, \"n\": {}, \"k\": {}, \"kernels\": {}, ", m, n, k,
             compiled.variants()[0].kernels.size());
  print("ours_us", spread_of(std::move(our_us)), ", ");
  print("library_us", spread_of(std::move(library_us)), "}");
}

void rates(int64_t n, int64_t k, const std::vector<int64_t>& sizes) {
  fmt::print("[");
  for (const int64_t m : sizes) {
    if (m != sizes.front()) fmt::print(", ");
    rate(m, n, k);
  }
  fmt::print("]\n");
}

// Runs a GEMM of another shape first, so that the CUDA context and the cuBLASLt handle exist.
void first_call(const char* weights) {
  const nn::GluMlp mlp =
      load_mlp(value_or_throw(nn::Checkpoint::open(weights)), nn::GluActivation::kGeluTanh);
  const TensorOptions options{DType::kBF16, kCuda};
  mm(randn({64, 32}, 1, options), randn({32, 64}, 2, options));
  const Tensor x = randn({128, mlp.gate_proj.weight.size(1)}, 3, options);
  cuda::synchronize();
  const int64_t start_ns = now_ns();
  const Compiled compiled = compile(mlp);
  compiled(x);
  cuda::synchronize();
  fmt::print("{{\"first_call_ms\": {:.3f}, \"from_cache\": {}}}\n",
             static_cast<double>(now_ns() - start_ns) * 1e-6, compiled.variants()[0].from_cache);
}

void gelu_against_copy(int64_t count) {
  const Tensor x = randn({count}, 1, {DType::kBF16, kCuda});
  const Tensor y = empty({count}, {DType::kBF16, kCuda});
  fmt::print("{{");
  print("gelu_us", wall_us([&] { gelu(x, "tanh"); }), ", ");
  print("copy_us", wall_us([&] { copy_(y, x); }), "}\n");
}

// Host time of one call in nanoseconds, averaged over a few hundred calls that fit into the GPU's
// queue.
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

// Two GEMMs with one kernel between them, called directly through the library and the driver: the
// lower bound for a compiled MLP.
Body bare_launches(const cuda::Gemm& up, const cuda::Gemm& down, const Tensor& h) {
  const Tensor target = empty(h.shape(), {h.dtype(), h.device()});
  return [=] {
    cuda::try_gemm(up, 0);
    copy_(target, h);
    cuda::try_gemm(down, 0);
  };
}

void host_parts() {
  const TensorOptions options{DType::kBF16, kCuda};
  nn::GluMlp mlp(64, 256, nn::GluActivation::kGeluTanh, false, DType::kBF16);
  nn::init_normal(mlp, 1);
  mlp.to(kCuda);
  const Compiled compiled = compile(mlp, {.cache = false});
  const Compiled graph = compile(mlp, {.cache = false, .graph = true});
  const Tensor x = randn({128, 64}, 1, options);
  const Tensor w = randn({256, 64}, 2, options);
  const Tensor h = randn({128, 256}, 3, options);
  const Tensor bias = randn({256}, 4, options);
  const cuda::Gemm gemm = bare_gemm(x, w, h);
  const std::vector<std::pair<const char*, Body>> parts{
      {"empty", [&] { empty(h.shape(), options); }},
      {"is_capturing", [] { cuda::current_stream().is_capturing(); }},
      {"t", [&] { t(w); }},
      {"gelu", [&] { gelu(h, "tanh"); }},
      {"mul", [&] { mul(h, h); }},
      {"try_gemm", [&] { cuda::try_gemm(gemm, 0); }},
      {"mm", [&] { mm(x, t(w)); }},
      {"linear", [&] { linear(x, w); }},
      {"linear_bias", [&] { linear(x, w, bias); }},
      {"mlp", [&] { mlp.forward(x); }},
      {"mlp_bare", bare_launches(gemm, bare_gemm(h, t(w), x), h)},
      {"mlp_compiled", [&] { compiled(x); }},
      {"mlp_graph", [&] { graph(x); }}};
  fmt::print("{:<14}{:>12}{:>18}\n", "", "back to back", "GPU idle");
  for (const auto& [name, body] : parts) {
    for (int i = 0; i < 3; ++i) body();
    fmt::print("{:<14}{:9.0f} ns{:15.0f} ns\n", name, host_ns(body), issue_us(body).median * 1000);
  }
}

int run(const std::vector<std::string>& args) {
  register_cpu_backend();
  if (const auto ready = register_cuda_backend(); !ready) throw Error(ready.error().message);
  const std::string kind = args.empty() ? "" : args[0];
  if (kind == "host" && args.size() == 1) {
    host_parts();
  } else if (kind == "rates" && args.size() == 4) {
    rates(std::stoll(args[1]), std::stoll(args[2]), parse_numbers(args[3]));
  } else if (kind == "first" && args.size() == 2) {
    first_call(args[1].c_str());
  } else if (kind == "gelu" && args.size() == 2) {
    gelu_against_copy(std::stoll(args[1]));
  } else if (kind == "sweep" && args.size() == 3) {
    sweep(args[1].c_str(), parse_numbers(args[2]));
  } else if (kind == "linear" && args.size() == 4) {
    forward(load_linear(value_or_throw(nn::Checkpoint::open(args[1]))), args[2].c_str(),
            args[3].c_str());
  } else if ((kind == "geglu" || kind == "swiglu") && args.size() == 4) {
    const auto activation = nn::glu_activation_from_name(kind).value();
    forward(load_mlp(value_or_throw(nn::Checkpoint::open(args[1])), activation), args[2].c_str(),
            args[3].c_str());
  } else {
    throw Error("usage: see the top of bench/gpu_forward.cpp");
  }
  return 0;
}

}  // namespace
}  // namespace epi::bench

int main(int argc, char** argv) {
  try {
    return epi::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_forward: {}\n", error.what());
    return 2;
  }
}
