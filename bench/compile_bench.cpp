// SPDX-License-Identifier: Apache-2.0
// Compiled functions against the same functions run eagerly, and the cost of the first call.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "bench/suite.h"
#include "epilogue/base/clock.h"
#include "epilogue/base/error.h"
#include "epilogue/compiler/codegen/llvm.h"
#include "epilogue/compiler/codegen/target.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/compiler/graph/guards.h"
#include "epilogue/compiler/plan/peaks.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/nn/quantize.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

constexpr int64_t kRows = 2048;
constexpr int64_t kDim = 768;
constexpr int64_t kHidden = 3072;
// Exceeds the 2 MiB L2 cache of a core, like the weights of a real block.
constexpr int64_t kDecodeDim = 2048;
constexpr int64_t kDecodeHidden = 8192;

// Of the time to read the weights once: from memory, and from L2, where it takes 10 us and waking a
// thread counts.
constexpr double kGemvLimit = 1.25;
constexpr double kSmallGemvLimit = 2;
constexpr int64_t kSmallGemv = 512;

using Inputs = std::span<const Tensor>;

nn::GluMlp make_mlp(int64_t dim, int64_t hidden, DType dtype) {
  nn::GluMlp mlp(dim, hidden, nn::GluActivation::kGeluTanh, false, dtype);
  nn::init_normal(mlp, 1);
  return mlp;
}

Side side(std::string name, std::function<void()> body) {
  return {std::move(name), std::move(body), {}, {}};
}

void add_pointwise_contests(Suite& suite) {
  const std::vector<Tensor> halves = {randn({kRows, kHidden}, 1), randn({kRows, kHidden}, 2)};
  const Compiled glu([](Inputs in) { return mul(gelu(in[0], "tanh"), in[1]); }, {}, {});
  Contest fused;
  fused.text = "fused gelu*mul 2048x3072 / gelu alone";
  fused.limit = 1.12;
  fused.calls = 3;
  fused.ours = side("fused gelu*mul", [=] { benchmark::DoNotOptimize(glu(halves)); });
  fused.rival = side("gelu", [=] { benchmark::DoNotOptimize(gelu(halves[0], "tanh")); });
  suite.add("compile/glu", std::move(fused));

  const auto chain = [](Inputs in) {
    const Tensor a = relu(neg(sub(mul(add(in[0], in[1]), in[1]), in[0])));
    return relu(neg(sub(mul(add(a, in[0]), in[0]), in[1])));
  };
  const std::vector<Tensor> long_inputs = {randn({16 << 20}, 3), randn({16 << 20}, 4)};
  const Compiled compiled(chain, {}, {});
  Contest ten;
  ten.text = "ten of add sub mul neg relu over 16 M floats, speed / eager";
  ten.bound = Bound::kAtLeast;
  ten.limit = 3.5;
  ten.turns = 21;
  ten.ours = side("one kernel", [=] { benchmark::DoNotOptimize(compiled(long_inputs)); });
  ten.rival = side("ten kernels", [=] { benchmark::DoNotOptimize(chain(long_inputs)); });
  suite.add("compile/chain", std::move(ten));
}

void add_mlp_contest(Suite& suite, DType dtype) {
  const nn::GluMlp mlp = make_mlp(kDim, kHidden, dtype);
  const Compiled compiled = compile(mlp);
  const Tensor x = randn({kRows, kDim}, 0, {dtype, kCpu});
  Contest contest;
  contest.ours = side("compiled", [=] { benchmark::DoNotOptimize(compiled(x)); });
  contest.rival = side("eager", [=] { benchmark::DoNotOptimize(mlp.forward(x)); });
  contest.turns = 21;
  contest.gemm = gemm_work(dtype, kRows, kDim, kHidden, 3);
  if (dtype == DType::kF32) {
    contest.text = "compiled f32 MLP 2048x768x3072 / eager";
    contest.limit = 1.02;
    suite.add("compile/mlp_f32", std::move(contest));
  } else {
    contest.text = "compiled bf16 MLP 2048x768x3072, speed / eager";
    contest.bound = Bound::kAtLeast;
    contest.limit = 2;
    suite.add("compile/mlp_bf16", std::move(contest));
  }
}

void add_decode(Suite& suite) {
  Measurement decode;
  decode.text = "compiled f32 MLP of one row 2048x8192 / reading its weights once";
  decode.unit = "x";
  decode.limit = 1.67;  // 0.6 of the bandwidth
  decode.measure = [] {
    const nn::GluMlp mlp = make_mlp(kDecodeDim, kDecodeHidden, DType::kF32);
    const Compiled compiled = compile(mlp);
    const Tensor x = randn({1, kDecodeDim}, 0);
    std::vector<double> ratios;
    const int64_t bytes = 3 * kDecodeDim * kDecodeHidden * 4;
    for (int i = 0; i < 9; ++i) {
      const double read_ns = static_cast<double>(bytes) / compiler::measure_read_peak(bytes);
      compiled(x);
      const int64_t start_ns = now_ns();
      for (int call = 0; call < 3; ++call) compiled(x);
      ratios.push_back(static_cast<double>(now_ns() - start_ns) / 3 / read_ns);
    }
    std::sort(ratios.begin(), ratios.end());
    return ratios[ratios.size() / 2];
  };
  suite.add("compile/decode", std::move(decode));
}

// The time of one row relative to reading the weights once. Beyond the last-level cache of most
// machines, and inside the L2 cache of one core.
void add_gemv(Suite& suite, DType dtype, int64_t size) {
  const auto measure = [=] {
    const bool is_int8 = dtype == DType::kI8;
    const DType x_dtype = is_int8 ? DType::kF32 : dtype;
    const Tensor w = randn({size, size}, 1, {x_dtype});
    const Tensor x = randn({1, size}, 2, {x_dtype});
    const nn::Int8Weight int8 = is_int8 ? nn::quantize_weight(w) : nn::Int8Weight{};
    const Compiled compiled = compile([=](const Tensor& row) {
      return is_int8 ? int8_linear(row, int8.weight, int8.scale) : linear(row, w, {});
    });
    const GemmWork work = gemm_work(dtype, 1, size, size);
    const int calls = std::max<int>(1, static_cast<int>(20'000'000 / work.weight_bytes));
    std::vector<double> shares;
    for (int i = 0; i < 21; ++i) {
      compiled(x);
      const int64_t start_ns = now_ns();
      for (int call = 0; call < calls; ++call) compiled(x);
      shares.push_back(peak_share(work, static_cast<double>(now_ns() - start_ns) / calls).share);
    }
    std::sort(shares.begin(), shares.end());
    return 1 / shares[shares.size() / 2];
  };
  suite.add(fmt::format("compile/gemv_{}_{}", name(dtype), size),
            Measurement{fmt::format("compiled linear {} M=1 {}x{} / reading its weights",
                                    name(dtype), size, size),
                        "x", size == kSmallGemv ? kSmallGemvLimit : kGemvLimit, measure});
}

void add_int8_row(Suite& suite) {
  const nn::GluMlp mlp = make_mlp(kDim, kHidden, DType::kBF16);
  nn::GluMlp int8 = mlp;
  nn::quantize(int8);
  const Compiled rounded = compile(int8);
  const Compiled exact = compile(mlp);
  const Tensor x = randn({1, kDim}, 0, {DType::kBF16});
  Contest contest;
  contest.text = "int8 MLP of one row 768x3072 / bf16";
  contest.limit = 0.8;  // reads 0.56 of the bytes
  contest.turns = 21;
  contest.calls = 50;
  contest.gemm = gemm_work(DType::kI8, 1, kDim, kHidden, 3);
  contest.ours = side("int8", [=] { benchmark::DoNotOptimize(rounded(x)); });
  contest.rival = side("bf16", [=] { benchmark::DoNotOptimize(exact(x)); });
  suite.add("compile/int8_row", std::move(contest));
}

void add_guards(Suite& suite) {
  const std::vector<Tensor> inputs = {randn({8, 128, kDim}, 0)};
  const auto captured = compiler::capture([](Inputs in) { return neg(in[0]); }, inputs);
  const auto guards = std::make_shared<compiler::Guards>(captured, inputs);
  Contest check;
  check.text = "guard check, ns";
  check.limit = 30;
  check.calls = 20000;
  check.ours = side("guard check", [=] {
    std::array<int64_t, 4> symbols{};
    benchmark::DoNotOptimize(guards->accept(inputs, std::span(symbols).first(guards->symbols())));
  });
  suite.add("compile/guards", std::move(check));

  // A function that launches no kernel: guards, choice of the variant, plan, result.
  const Compiled identity([](Inputs in) { return in[0]; }, {}, {});
  Contest call;
  call.text = "a compiled call without its kernels, ns";
  call.limit = 150;
  call.calls = 20000;
  call.ours = side("call without kernels", [=] { benchmark::DoNotOptimize(identity(inputs)); });
  suite.add("compile/call", std::move(call));
}

// A decoding step of eight attention layers that write into their KV caches: what the first call
// with a position costs beyond the second one, in microseconds. At the first call the function is
// captured again, to see whether it treats the position as it treated the others.
double new_integer_us() {
  constexpr int kLayers = 8;
  constexpr int64_t kHeads = 4;
  constexpr int64_t kDepth = 32;
  constexpr int64_t kLength = 512;
  const auto step = compile([](Inputs in, std::span<const int64_t> at) -> std::vector<Tensor> {
    Tensor x = in[0];
    for (size_t layer = 1; layer < in.size(); ++layer) {
      copy_(narrow(in[layer], 2, at[0], 1), x);
      const Tensor seen = narrow(in[layer], 2, 0, at[0] + 1);
      x = add(x, scaled_dot_product_attention(x, seen, seen));
    }
    return {x};
  });
  std::vector<Tensor> inputs = {randn({1, kHeads, 1, kDepth}, 1)};
  for (int layer = 0; layer < kLayers; ++layer)
    inputs.push_back(zeros({1, kHeads, kLength, kDepth}));
  const auto timed_ns = [&](int64_t position) {
    const int64_t start_ns = now_ns();
    step.run(inputs, std::span(&position, 1));
    return static_cast<double>(now_ns() - start_ns);
  };
  std::vector<double> added_us;
  for (int64_t position = 8; position < 108; ++position) {
    const double first_ns = timed_ns(position);
    if (position >= 10) added_us.push_back((first_ns - timed_ns(position)) * 1e-3);
  }
  std::sort(added_us.begin(), added_us.end());
  return added_us[added_us.size() / 2];
}

// The first compiled call in a new process minus an eager call, in milliseconds.
double first_call_ms(bool cached) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("epilogue_bench_cache_" + std::to_string(::getpid()));
  const std::string command = "EPILOGUE_CACHE='" + folder.string() + "' '" +
                              std::filesystem::read_symlink("/proc/self/exe").string() +
                              "' --first-call";
  const auto run = [&] {
    const std::unique_ptr<FILE, int (*)(FILE*)> out(::popen(command.c_str(), "r"), ::pclose);
    double value = -1;
    if (!out || std::fscanf(out.get(), "%lf", &value) != 1) throw Error("--first-call failed");
    return value;
  };
  if (cached) run();
  std::vector<double> values;
  for (int i = 0; i < 5; ++i) {
    if (!cached) std::filesystem::remove_all(folder);
    values.push_back(run());
  }
  std::filesystem::remove_all(folder);
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void add_first_call(Suite& suite) {
  Measurement cold;
  cold.text = "first call of the compiled f32 MLP 2048x768x3072 minus eager";
  cold.unit = "ms";
  cold.limit = 300;
  cold.measure = [] { return first_call_ms(false); };
  suite.add("compile/first_call", std::move(cold));
  Measurement cached;
  cached.text = "the same with cached code";
  cached.unit = "ms";
  cached.limit = 20;
  cached.measure = [] { return first_call_ms(true); };
  suite.add("compile/first_call_cached", std::move(cached));
}

// What three compiled functions of one MLP add to the resident memory, each with variants for two
// layouts, relative to the weights.
double added_memory() {
  const nn::GluMlp mlp = make_mlp(kDecodeDim, kDecodeHidden, DType::kF32);
  const auto resident = [] {
    std::ifstream status("/proc/self/statm");
    int64_t total = 0;
    int64_t pages = 0;
    status >> total >> pages;
    return static_cast<double>(pages * ::sysconf(_SC_PAGESIZE));
  };
  const Tensor x = randn({8, kDecodeDim}, 2);
  const Tensor wider = narrow(randn({8, 2 * kDecodeDim}, 3), 1, 0, kDecodeDim);
  compile(make_mlp(16, 32, DType::kF32))(randn({8, 16}, 4));  // loads LLVM
  const double before = resident();
  std::vector<Compiled> functions;
  for (int i = 0; i < 3; ++i) {
    functions.push_back(compile(mlp));
    functions.back()(x);
    functions.back()(wider);
  }
  return (resident() - before) / (3.0 * 4 * kDecodeDim * kDecodeHidden);
}

}  // namespace

int print_first_call() {
  register_cpu_backend();
  const nn::GluMlp mlp = make_mlp(kDim, kHidden, DType::kF32);
  const Tensor x = randn({kRows, kDim}, 0);
  const auto timed_ns = [](const std::function<void()>& body) {
    const int64_t start_ns = now_ns();
    body();
    return static_cast<double>(now_ns() - start_ns);
  };
  mlp.forward(x);
  const double eager_ns = timed_ns([&] { mlp.forward(x); });
  const Compiled compiled = compile(mlp);
  const double first_ns = timed_ns([&] { compiled(x); });
  std::printf("%.3f\n", (first_ns - eager_ns) * 1e-6);
  return 0;
}

void add_compile(Suite& suite) {
  if (compiler::llvm_version() == "none") return;
  add_pointwise_contests(suite);
  add_mlp_contest(suite, DType::kF32);
  const compiler::Target& target = compiler::host_target();
  if (target.amx || target.bfmmla || !target.bf16_pairs.empty())
    add_mlp_contest(suite, DType::kBF16);
  add_decode(suite);
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16, DType::kI8}) {
    for (const int64_t size : {kSmallGemv, int64_t{8192}}) add_gemv(suite, dtype, size);
  }
  if (!target.int8_dots.empty()) add_int8_row(suite);
  add_guards(suite);
  suite.add("compile/new_integer",
            Measurement{"first call of 8 attention layers with a new position minus the second",
                        "us", 1000, new_integer_us});
  add_first_call(suite);
  suite.add("compile/memory",
            Measurement{"memory added by 3 compiled MLPs of 2 layouts / their weights", "x", 1.1,
                        added_memory});
}

}  // namespace epi::bench
