// SPDX-License-Identifier: Apache-2.0
// A minimal program that uses an installed Epilogue: a SwiGLU block on one row, a caller's mistake,
// and the kernel packages of the installation.
#include <epilogue/base/error.h>
#include <epilogue/cpu/cpu_backend.h>
#include <epilogue/hub/hub.h>
#include <epilogue/nn/glu_mlp.h>
#include <epilogue/tensor/factories.h>
#include <epilogue/tensor/print.h>
#include <fmt/core.h>

int main() {
  epi::register_cpu_backend();
  epi::nn::GluMlp mlp(64, 256, epi::nn::GluActivation::kSilu);
  epi::nn::init_normal(mlp, 1);
  const epi::Tensor y = mlp.forward(epi::randn({1, 64}, 0));
  fmt::print("{}\n", epi::describe(y));
  try {
    mlp.forward(epi::randn({1, 32}, 0));
  } catch (const epi::Error& error) {
    fmt::print("error: {}\n", error.what());
  }
  const auto packages = epi::hub::built_packages();
  fmt::print("kernel packages: {}\n", packages ? packages->string() : "none");
}
