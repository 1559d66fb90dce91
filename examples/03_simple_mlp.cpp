// SPDX-License-Identifier: Apache-2.0
// A GeGLU MLP with weights from a safetensors file: saved here first, then mapped and used without
// a copy. down(gelu(gate(x)) * up(x)) is five kernels; the trace shows them, in Perfetto as in
// PyTorch's tools. Usage: 03_simple_mlp [TRACE.json.gz]
#include <fmt/core.h>

#include <cstdio>
#include <filesystem>

#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/nn/safetensors.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/tensor/print.h"
#include "epilogue/trace/writer.h"

namespace {

constexpr const char* kPrefix = "model.layers.0.mlp.";

epi::Result<epi::nn::GluMlp> saved_and_loaded(const std::filesystem::path& path) {
  epi::nn::GluMlp made(256, 1024);
  epi::nn::init_normal(made, 1);
  const auto state = made.state(kPrefix);
  if (auto saved = epi::nn::save_safetensors(path, state); !saved) {
    return tl::unexpected(saved.error());
  }
  auto checkpoint = epi::nn::Checkpoint::open(path);
  if (!checkpoint) return tl::unexpected(checkpoint.error());
  epi::nn::GluMlp loaded(256, 1024);
  if (auto done = loaded.load(*checkpoint, kPrefix); !done) return tl::unexpected(done.error());
  return loaded;
}

}  // namespace

int main(int argc, char** argv) {
  epi::register_cpu_backend();
  const auto path = std::filesystem::temp_directory_path() /
                    fmt::format("epilogue_simple_mlp_{}.safetensors", epi::now_ns());
  const auto mlp = saved_and_loaded(path);
  std::filesystem::remove(path);  // the mapping outlives the name
  if (!mlp) {
    fmt::print(stderr, "{}\n", mlp.error().message);
    return 2;
  }
  const epi::Tensor x = epi::randn({4, 32, 256}, 0);
  epi::profile::Profiler profiler({.record_shapes = true});
  const epi::Tensor y = mlp->forward(x);
  profiler.stop();
  fmt::print("x {}\ny {}\n", epi::describe(x), epi::to_string(y));

  const char* trace_path = argc > 1 ? argv[1] : "simple_mlp.json.gz";
  const auto written = epi::trace::write(profiler.trace(), trace_path);
  fmt::print("{}\n", written ? trace_path : written.error().message);
  return written ? 0 : 2;
}
