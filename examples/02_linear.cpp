// SPDX-License-Identifier: Apache-2.0
// A Linear is one kernel: the transpose rewrites strides, and the bias is added where the product
// is written. A listener sees both.
#include <fmt/core.h>

#include <string>

#include "epilogue/cpu/backend.h"
#include "epilogue/nn/linear.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/ops/op.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/tensor/print.h"

namespace {

class Printer : public epi::Listener {
 public:
  void op_begin(epi::Op op, epi::Args) override {
    fmt::print("{}{}\n", std::string(depth_++ * 2, ' '), epi::op_info(op).name);
  }
  void op_end(epi::Op) override { --depth_; }
  void annotation_begin(std::string_view) override {}
  void annotation_end() override {}
  void kernel(const epi::KernelRun& run) override {
    fmt::print("{}> {}: {} bytes, {} FLOPs\n", std::string(depth_ * 2, ' '), run.name, run.bytes,
               run.flops);
  }

 private:
  size_t depth_ = 0;
};

}  // namespace

int main() {
  epi::register_cpu_backend();
  epi::nn::Linear layer(32, 64);
  epi::nn::init_normal(layer, 1);
  fmt::print("weight     {}\nweight.t() {}\n\n", epi::describe(layer.weight),
             epi::describe(epi::t(layer.weight)));

  Printer printer;
  epi::set_listener(&printer);
  const epi::Tensor y = layer.forward(epi::randn({1024, 32}, 0));
  epi::set_listener(nullptr);
  fmt::print("\ny          {}\n", epi::describe(y));
}
