// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "bench/rivals/rival.h"
#include "epilogue/base/clock.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/nn/quantize.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

class EpilogueRival : public Rival {
 public:
  std::string name() const override { return "Epilogue"; }

  bool prepare(const LinearCase& linear) override {
    x_ = randn({linear.rows, linear.inputs}, 1);
    Tensor w = randn({linear.outputs, linear.inputs}, 2);
    if (linear.dtype == DType::kI8) {
      const nn::Int8Weight int8 = nn::quantize_weight(w);
      function_.emplace(
          compile([int8](const Tensor& x) { return int8_linear(x, int8.weight, int8.scale); }));
      return true;
    }
    x_ = to(x_, linear.dtype);
    w = to(w, linear.dtype);
    function_.emplace(compile([w](const Tensor& x) { return epi::linear(x, w, {}); }));
    return true;
  }

  double run(int64_t calls) override {
    y_ = (*function_)(x_);
    const int64_t start_ns = now_ns();
    for (int64_t i = 0; i < calls; ++i) y_ = (*function_)(x_);
    return static_cast<double>(now_ns() - start_ns) / static_cast<double>(calls);
  }

 private:
  Tensor x_;
  Tensor y_;
  std::optional<Compiled> function_;
};

}  // namespace

std::unique_ptr<Rival> epilogue_rival() { return std::make_unique<EpilogueRival>(); }

}  // namespace epi::bench
