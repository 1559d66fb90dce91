// SPDX-License-Identifier: Apache-2.0
// The parts linear, geglu and swiglu: one block in each of our modes, on the weights and the input
// of a file.
#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/gpu_forward/load.h"
#include "bench/gpu_forward/parts.h"
#include "bench/gpu_forward/timing.h"
#include "epilogue/base/clock.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/nn/safetensors.h"
#include "epilogue/ops/functional.h"

namespace epi::bench {
namespace {

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
void forward(const M& module, const std::string& input, const std::string& output) {
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

}  // namespace

void measure_block(const std::string& kind, const std::string& weights, const std::string& input,
                   const std::string& output) {
  if (kind == "linear") {
    forward(load_linear(weights), input, output);
  } else {
    forward(load_mlp(weights, nn::glu_activation_from_name(kind).value()), input, output);
  }
}

}  // namespace epi::bench
