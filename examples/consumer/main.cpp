// SPDX-License-Identifier: Apache-2.0
// A minimal program that uses an installed Epilogue: a SwiGLU block on one row.
#include <epilogue/cpu/cpu_backend.h>
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
}
