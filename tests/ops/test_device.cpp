// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/test_device.h"

#include <cstdlib>
#include <string_view>

#include "epilogue/ops/functional.h"

namespace epi {
namespace {

Tensor moved(const Tensor& x, Device device) {
  if (x.device() == device) return x;
  const int64_t count = x.storage()->size_bytes() / size_bytes(x.dtype());
  const Tensor whole(x.storage(), {{count}, {1}}, 0, x.dtype());
  return {to(whole, device).storage(), x.layout(), x.offset(), x.dtype()};
}

}  // namespace

Device test_device() {
  static const char* const variable = std::getenv("EPI_TEST_DEVICE");
  const std::string_view device = variable == nullptr ? "cpu" : variable;
  if (device != "cpu" && device != "cuda")
    fail("test", "EPI_TEST_DEVICE must be cpu or cuda, not {}", device);
  return device == "cuda" ? kCuda : kCpu;
}

Tensor on_test_device(const Tensor& x) { return moved(x, test_device()); }
Tensor on_host(const Tensor& x) { return moved(x, kCpu); }

}  // namespace epi
