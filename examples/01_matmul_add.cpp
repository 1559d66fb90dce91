// SPDX-License-Identifier: Apache-2.0
// add(matmul(x, w), b), as the PyTorch tutorial begins: two operators, two kernels. At 64 the time
// goes into calling them, at 1024 into the product.
#include <fmt/core.h>

#include "epilogue/cpu/backend.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/tensor/print.h"

int main() {
  epi::register_cpu_backend();
  for (const int64_t size : {64, 1024}) {
    const epi::Tensor x = epi::randn({size, size}, 0);
    const epi::Tensor w = epi::randn({size, size}, 1);
    const epi::Tensor b = epi::randn({size, size}, 2);

    epi::Tensor y = epi::add(epi::matmul(x, w), b);  // the first call loads OpenBLAS
    const int64_t start_ns = epi::now_ns();
    y = epi::add(epi::matmul(x, w), b);
    const int64_t dur_ns = epi::now_ns() - start_ns;

    fmt::print("{}: {:.1f} us\n", epi::describe(y), static_cast<double>(dur_ns) / 1000);
  }
}
