// SPDX-License-Identifier: Apache-2.0
// A Linear is one kernel: the transpose rewrites strides, and the bias is added where the product
// is written. The table shows views that take no kernel time, by the shapes they were given.
#include <fmt/core.h>

#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/nn/linear.h"
#include "epilogue/ops/functional.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/report/profiler_table_report.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/tensor/print.h"

int main() {
  epi::register_cpu_backend();
  epi::nn::Linear layer(32, 64);
  epi::nn::init_normal(layer, 1);
  const epi::Tensor x = epi::randn({1024, 32}, 0);
  fmt::print("weight     {}\nweight.t() {}\n\n", epi::describe(layer.weight),
             epi::describe(epi::t(layer.weight)));

  layer.forward(x);  // the first product loads OpenBLAS
  epi::profile::Profiler profiler({.record_shapes = true});
  const epi::Tensor y = layer.forward(x);
  profiler.stop();
  const auto table = epi::analysis::profiler_table(profiler.trace(), {.by_shape = true});
  fmt::print("{}\ny          {}\n", epi::report::table_text(table, {.shapes = true}),
             epi::describe(y));
}
