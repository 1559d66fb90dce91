// SPDX-License-Identifier: Apache-2.0
#include "bench/rivals/rival.h"

#if defined(EPI_HAS_ONEDNN)

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <dnnl.hpp>
#include <unordered_map>

#include "epilogue/base/clock.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

using dnnl::memory;

class OneDnnRival : public Rival {
 public:
  std::string name() const override {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}", version->major, version->minor);
  }

  // oneDNN chooses the layout of the weights.
  bool prepare(const LinearCase& linear) override {
    omp_set_num_threads(num_threads());
    const auto type = linear.dtype == DType::kF32    ? memory::data_type::f32
                      : linear.dtype == DType::kBF16 ? memory::data_type::bf16
                      : linear.dtype == DType::kI8   ? memory::data_type::s8
                                                     : memory::data_type::f16;
    const auto result = linear.dtype == DType::kI8 ? memory::data_type::f32 : type;
    const memory::desc x({linear.rows, linear.inputs}, type, memory::format_tag::ab);
    const memory::desc w({linear.inputs, linear.outputs}, type, memory::format_tag::any);
    const memory::desc y({linear.rows, linear.outputs}, result, memory::format_tag::ab);
    try {
      const dnnl::matmul::primitive_desc description({x, w, y}, engine_);
      matmul_ = dnnl::matmul(description);
      arguments_ = {{DNNL_ARG_SRC, random(x, linear.dtype)},
                    {DNNL_ARG_WEIGHTS, random(description.weights_desc(), linear.dtype)},
                    {DNNL_ARG_DST, memory(y, engine_)}};
    } catch (const dnnl::error&) {
      return false;
    }
    return true;
  }

  double run(int64_t calls) override {
    matmul_.execute(stream_, arguments_);
    stream_.wait();
    const int64_t start_ns = now_ns();
    for (int64_t i = 0; i < calls; ++i) matmul_.execute(stream_, arguments_);
    stream_.wait();
    return static_cast<double>(now_ns() - start_ns) / static_cast<double>(calls);
  }

 private:
  // Random numbers in the layout of `description`.
  memory random(const memory::desc& description, DType dtype) {
    const memory::desc plain(description.dims(), description.data_type(), memory::format_tag::ab);
    memory numbers(plain, engine_);
    const int64_t count = static_cast<int64_t>(plain.get_size()) / size_bytes(dtype);
    const bool is_int8 = dtype == DType::kI8;
    const Tensor random = randn({count}, 1, {is_int8 ? DType::kF32 : dtype, kCpu});
    if (is_int8) {
      std::transform(random.data<float>(), random.data<float>() + count,
                     static_cast<int8_t*>(numbers.get_data_handle()), [](float x) {
                       return static_cast<int8_t>(std::clamp(x * 42, -127.0F, 127.0F));
                     });
    } else {
      std::memcpy(numbers.get_data_handle(), random.raw_data(), plain.get_size());
    }
    memory result(description, engine_);
    dnnl::reorder(numbers, result).execute(stream_, numbers, result);
    stream_.wait();
    return result;
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::matmul matmul_;
  std::unordered_map<int, memory> arguments_;
};

}  // namespace

std::unique_ptr<Rival> onednn_rival() { return std::make_unique<OneDnnRival>(); }

}  // namespace epi::bench

#else

namespace epi::bench {
std::unique_ptr<Rival> onednn_rival() { return nullptr; }
}  // namespace epi::bench

#endif
