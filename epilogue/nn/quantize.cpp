// SPDX-License-Identifier: Apache-2.0
#include "epilogue/nn/quantize.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "epilogue/base/thread_pool.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/int8_groups.h"
#include "epilogue/tensor/factories.h"

namespace epi::nn {
namespace {

constexpr float kLargest = kInt8Largest;
constexpr int64_t kErrorRows = 16;
constexpr uint64_t kErrorSeed = 1;

// Returns the scale, or NaN if a weight is not finite. The division is in double, so that the
// smallest numbers do not overflow.
float quantize_group(std::span<const float> weights, int8_t* to) {
  float largest = 0;
  for (const float weight : weights) {
    if (!std::isfinite(weight)) return NAN;
    largest = std::max(largest, std::abs(weight));
  }
  const float scale = largest / kLargest;
  for (const float weight : weights) {
    const double whole = scale == 0 ? 0 : std::nearbyint(double{weight} / double{scale});
    *to++ = static_cast<int8_t>(std::clamp(whole, -double{kLargest}, double{kLargest}));
  }
  return scale;
}

double sum_of_squares(const Tensor& x) {
  double sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += std::pow(double{x.data<float>()[i]}, 2);
  return sum;
}

}  // namespace

Int8Weight quantize_weight(const Tensor& weight, bool in_groups, std::string_view place) {
  if (weight.dim() != 2 || !is_floating(weight.dtype())) {
    fail("quantize", "{} is {} {}, not a floating-point matrix", place, name(weight.dtype()),
         to_string(weight.shape()));
  }
  const Tensor numbers = contiguous(to(to(weight, kCpu), DType::kF32));
  const int64_t n = weight.size(0);
  const int64_t k = weight.size(1);
  const int64_t group = in_groups ? kInt8Group : std::max<int64_t>(k, 1);
  const int64_t groups = in_groups ? int8_groups(k) : 1;
  const Int8Weight result{empty({n, k}, {DType::kI8, kCpu}), zeros({n, groups})};
  std::atomic<int64_t> bad_row = n;  // the first
  parallel_for(n, 8, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t g = 0; g * group < k; ++g) {
        const int64_t at = row * k + g * group;
        const auto count = static_cast<size_t>(std::min(group, k - g * group));
        const float scale =
            quantize_group({numbers.data<float>() + at, count}, result.weight.data<int8_t>() + at);
        for (int64_t first = bad_row; std::isnan(scale) && row < first;) {
          bad_row.compare_exchange_weak(first, row);
        }
        result.scale.data<float>()[row * groups + g] = scale;
      }
    }
  });
  if (bad_row < n) fail("quantize", "{}: row {} is not finite", place, bad_row.load());
  return result;
}

Int8Error measure_int8_error(const Tensor& weight, const Int8Weight& quantized) {
  const Tensor x = randn({kErrorRows, weight.size(1)}, kErrorSeed);
  const Tensor y = linear(x, to(to(weight, kCpu), DType::kF32));
  const double size = sum_of_squares(y);
  const auto error = [&](bool int8_input) {
    const Tensor rounded = int8_linear(x, quantized.weight, quantized.scale, {}, int8_input);
    return size == 0 ? 0 : std::sqrt(sum_of_squares(sub(rounded, y)) / size);
  };
  return {error(false), error(true)};
}

std::vector<QuantizedLayer> quantize(Module& module, const QuantizeOptions& options) {
  const auto layers = module.layers();
  if (layers.empty()) fail("quantize", "the module lists no layers: override Module::layers");
  std::vector<QuantizedLayer> result;
  std::vector<Int8Weight> weights;
  for (const auto& [name, layer] : layers) {
    if (layer->weight.device() != kCpu) {
      fail("quantize", "layer \"{}\" {}", name,
           layer->weight.device() == kMeta ? "has no values: load them first"
                                           : "is on a GPU: int8 weights run on the CPU only");
    }
    weights.push_back(
        quantize_weight(layer->weight, options.in_groups, fmt::format("layer \"{}\"", name)));
    result.push_back({name, measure_int8_error(layer->weight, weights.back())});
  }
  auto quantized = weights.begin();
  for (const auto& [name, layer] : layers) {
    layer->weight = quantized->weight;
    layer->weight_scale = (quantized++)->scale;
    layer->int8_input = options.int8_input;
  }
  return result;
}

}  // namespace epi::nn
