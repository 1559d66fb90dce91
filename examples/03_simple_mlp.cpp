// SPDX-License-Identifier: Apache-2.0
// A gated MLP, down(gelu(gate(x)) * up(x)): five kernels, or two when compiled. With --weights, its
// parameters are the mapped pages of a safetensors file, without a copy.
#include "epilogue/base/error.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/nn/checkpoint.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/tensor/factories.h"
#include "recording.h"

namespace {

void load(epi::nn::GluMlp& mlp, const std::string& file, const std::string& prefix) {
  const auto checkpoint = epi::nn::Checkpoint::open(file);
  if (!checkpoint) throw epi::Error(checkpoint.error().message);
  if (const auto loaded = mlp.load(*checkpoint, prefix); !loaded) {
    throw epi::Error(loaded.error().message);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return example::run([&] {
    example::Flags flags(argc, argv, "A gated MLP: five kernels; compiled, two");
    const int64_t batch = flags.size("--batch", 64, "Sequences");
    const int64_t seq = flags.size("--seq", 128, "Positions in a sequence");
    const int64_t dim = flags.size("--dim", 768, "Width of x");
    const int64_t hidden = flags.size("--hidden", 3072, "Hidden width");
    const auto name = flags.text("--activation", "geglu", "geglu, geglu_erf or swiglu");
    const auto weights = flags.text("--weights", "", "A .safetensors file, an index, or a folder");
    const auto prefix = flags.text("--prefix", "", "Prefix of the tensor names");
    const auto recording = example::recording_flags(flags);
    const auto compile = example::compile_flags(flags, "mlp");
    if (!flags.done()) return;
    const auto activation = epi::nn::glu_activation_from_name(name);
    if (!activation)
      throw epi::Error(fmt::format("--activation {}: must be geglu, geglu_erf or swiglu", name));

    epi::nn::GluMlp mlp(dim, hidden, *activation, false, recording.dtype);
    weights.empty() ? epi::nn::init_normal(mlp, 1) : load(mlp, weights, prefix);
    mlp.to(recording.device);
    const epi::Tensor x = epi::randn({batch, seq, dim}, 0, {recording.dtype, recording.device});

    if (!compile.compile) {
      example::record("mlp_fwd", [&] { mlp.forward(x); }, recording);
      return;
    }
    const epi::Compiled fast = epi::compile(mlp, compile.options);
    example::record("mlp_fwd", [&] { fast(x); }, recording);
  });
}
