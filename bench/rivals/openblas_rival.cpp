// SPDX-License-Identifier: Apache-2.0
#include "bench/rivals/rival.h"
#include "epilogue/base/clock.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/openblas.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

class OpenBlasRival : public Rival {
 public:
  std::string name() const override { return "OpenBLAS"; }

  bool prepare(const LinearCase& linear) override {
    if (linear.dtype != DType::kF32) return false;
    linear_ = linear;
    x_ = randn({linear.rows, linear.inputs}, 1);
    w_ = randn({linear.outputs, linear.inputs}, 2);
    y_ = empty({linear.rows, linear.outputs});
    return true;
  }

  double run(int64_t calls) override {
    cpu::openblas().set_num_threads(num_threads());
    multiply();
    const int64_t start_ns = now_ns();
    for (int64_t i = 0; i < calls; ++i) multiply();
    const int64_t end_ns = now_ns();
    cpu::openblas().set_num_threads(1);
    return static_cast<double>(end_ns - start_ns) / static_cast<double>(calls);
  }

 private:
  void multiply() const {
    const auto rows = static_cast<int>(linear_.rows);
    const auto inputs = static_cast<int>(linear_.inputs);
    const auto outputs = static_cast<int>(linear_.outputs);
    cpu::openblas().sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, outputs, inputs, 1,
                          x_.data<float>(), inputs, w_.data<float>(), inputs, 0, y_.data<float>(),
                          outputs);
  }

  LinearCase linear_;
  Tensor x_;
  Tensor w_;
  Tensor y_;
};

}  // namespace

std::unique_ptr<Rival> openblas_rival() { return std::make_unique<OpenBlasRival>(); }

}  // namespace epi::bench
