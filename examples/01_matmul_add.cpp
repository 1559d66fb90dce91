// SPDX-License-Identifier: Apache-2.0
// add(matmul(x, w), b), as the PyTorch tutorial begins: two operators, two kernels. At 64 the time
// goes into calling them, at 1024 into the product; the profiler's table tells which.
#include <fmt/core.h>

#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/report/profiler_table_report.h"
#include "epilogue/tensor/factories.h"

int main() {
  epi::register_cpu_backend();
  for (const int64_t size : {64, 1024}) {
    const epi::Tensor x = epi::randn({size, size}, 0);
    const epi::Tensor w = epi::randn({size, size}, 1);
    const epi::Tensor b = epi::randn({size, size}, 2);

    // One step unrecorded, one recorded and dropped, three kept.
    epi::profile::Profiler profiler({.schedule = epi::profile::Schedule{1, 1, 3}});
    for (int step = 0; step < 5; ++step) {
      {
        const epi::RecordFunction range("matmul_add");
        epi::add(epi::matmul(x, w), b);
      }
      profiler.step();
    }
    const auto table = epi::analysis::profiler_table(profiler.trace());
    fmt::print("size {}\n{}\n", size, epi::report::table_text(table, {}));
  }
}
