// SPDX-License-Identifier: Apache-2.0
// The same MLP with prebuilt kernels: looks up, verifies and loads a package, then runs the module
// with it. No compiler, no guards, any number of rows.
#include "epilogue/base/error.h"
#include "epilogue/hub/kernel.h"
#include "epilogue/hub/prebuilt_glu_mlp.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/tensor/factories.h"
#include "recording.h"

int main(int argc, char** argv) {
  return example::run([&] {
    example::Flags flags(argc, argv, "The MLP with prebuilt kernels: four kernels, no compiler");
    const int64_t batch = flags.size("--batch", 64, "Sequences");
    const int64_t seq = flags.size("--seq", 128, "Positions in a sequence");
    const int64_t dim = flags.size("--dim", 768, "Width of x");
    const int64_t hidden = flags.size("--hidden", 3072, "Hidden width");
    const auto package = flags.text("--kernels", "epilogue/glu@1", "A package and its version");
    const auto recording = example::recording_flags(flags);
    if (!flags.done()) return;

    // The best variant for this device. If there is none, the failure gives the reason for each.
    const size_t at = package.find('@');
    if (at == package.npos) throw epi::Error(fmt::format("--kernels {}: needs @VERSION", package));
    const int64_t version = std::strtoll(package.c_str() + at + 1, nullptr, 10);
    const auto glu = epi::hub::get_kernel(package.substr(0, at), version, recording.device);
    if (!glu) throw epi::Error(glu.error().message);
    fmt::print("kernels: {}@{} {}\n", glu->manifest().name, glu->manifest().version,
               glu->manifest().variant);

    epi::nn::GluMlp mlp(dim, hidden, epi::nn::GluActivation::kGeluTanh, false, recording.dtype);
    epi::nn::init_normal(mlp, 1);
    mlp.to(recording.device);
    const epi::hub::GluMlp layer(mlp, *glu);  // shares the parameters
    const epi::Tensor x = epi::randn({batch, seq, dim}, 0, {recording.dtype, recording.device});
    example::record("mlp_fwd", [&] { layer.forward(x); }, recording);
  });
}
