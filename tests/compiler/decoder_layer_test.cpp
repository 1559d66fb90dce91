// SPDX-License-Identifier: Apache-2.0
// A whole decoder layer as in Llama: RMSNorm, grouped-query attention with RoPE and a KV cache, and
// SwiGLU, with residuals. One compiled function decodes 300 tokens after a prompt.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>

#include "tests/compiler/compile_helpers.h"

namespace epi {
namespace {

constexpr int64_t kWidth = 64;
constexpr int64_t kHeads = 8;
constexpr int64_t kKeyHeads = 2;
constexpr int64_t kDepth = kWidth / kHeads;
constexpr int64_t kHidden = 160;
constexpr int64_t kCapacity = 320;

Tensor as(const Tensor& x, DType dtype, Device device) { return to(to(x, dtype), device); }

class DecoderLayer : public nn::Module {
 public:
  DecoderLayer(DType dtype, Device device)
      : query(make(kWidth, kWidth, 1, dtype, device)),
        key(make(kKeyHeads * kDepth, kWidth, 2, dtype, device)),
        value(make(kKeyHeads * kDepth, kWidth, 3, dtype, device)),
        output(make(kWidth, kWidth, 4, dtype, device)),
        norm_attention(as(add(mul(randn({kWidth}, 5), 0.1), 1.0), dtype, device)),
        norm_mlp(as(add(mul(randn({kWidth}, 6), 0.1), 1.0), dtype, device)),
        mlp(kWidth, kHidden, nn::GluActivation::kSilu, false, dtype) {
    nn::init_normal(mlp, 7);
    mlp.to(device);
    // The angles of RoPE: position * 10000^(-2 i / depth).
    const Tensor angles = empty({kCapacity, kDepth / 2});
    for (int64_t i = 0; i < angles.numel(); ++i) {
      const int64_t row = i / (kDepth / 2);
      const auto position = static_cast<double>(row);
      const auto pair = static_cast<double>(i % (kDepth / 2));
      angles.data<float>()[i] =
          static_cast<float>(position * std::pow(10000.0, -2 * pair / kDepth));
    }
    const std::vector<Tensor> halves = {angles, angles};
    cosines = as(cos(cat(halves, 1)), dtype, device);
    sines = as(sin(cat(halves, 1)), dtype, device);
  }

  std::vector<nn::NamedParameter> parameters() override {
    std::vector<nn::NamedParameter> all = {{"q_proj.weight", &query},
                                           {"k_proj.weight", &key},
                                           {"v_proj.weight", &value},
                                           {"o_proj.weight", &output},
                                           {"input_layernorm.weight", &norm_attention},
                                           {"post_attention_layernorm.weight", &norm_mlp}};
    for (const auto& parameter : mlp.parameters()) all.push_back(parameter);
    return all;
  }

  // Inputs: x [batch, tokens, width], and the caches of keys and values
  // [batch, key heads, capacity, depth]. Integer: the position of the first token.
  Tensor forward(Inputs in, Integers at) const {
    const Tensor& x = in[0];
    const int64_t position = at[0];
    const int64_t tokens = x.size(1);
    const Tensor h = rms_norm(x, {kWidth}, norm_attention, 1e-5);
    const Tensor q = rotated(heads(linear(h, query), kHeads), position);
    copy_(narrow(in[1], 2, position, tokens), rotated(heads(linear(h, key), kKeyHeads), position));
    copy_(narrow(in[2], 2, position, tokens), heads(linear(h, value), kKeyHeads));
    const int64_t seen = position + tokens;
    const Tensor keys = narrow(in[1], 2, 0, seen);
    const Tensor values = narrow(in[2], 2, 0, seen);
    const Tensor mixed = scaled_dot_product_attention(q, keys, values, {}, tokens > 1, std::nullopt,
                                                      /*enable_gqa=*/true);
    const Tensor merged = reshape(transpose(mixed, 1, 2), {x.size(0), tokens, kWidth});
    const Tensor attended = add(x, linear(merged, output));
    return add(attended, mlp.forward(rms_norm(attended, {kWidth}, norm_mlp, 1e-5)));
  }

 private:
  static Tensor make(int64_t rows, int64_t columns, uint64_t seed, DType dtype, Device device) {
    const double scale = 1 / std::sqrt(static_cast<double>(columns));
    return as(mul(randn({rows, columns}, seed), scale), dtype, device);
  }

  // [batch, tokens, count * depth] as [batch, count, tokens, depth].
  static Tensor heads(const Tensor& x, int64_t count) {
    return transpose(view(x, {x.size(0), x.size(1), count, kDepth}), 1, 2);
  }

  Tensor rotated(const Tensor& x, int64_t position) const {
    const Tensor left = narrow(x, 3, 0, kDepth / 2);
    const Tensor right = narrow(x, 3, kDepth / 2, kDepth / 2);
    const std::vector<Tensor> turned = {neg(right), left};
    return add(mul(x, narrow(cosines, 0, position, x.size(2))),
               mul(cat(turned, 3), narrow(sines, 0, position, x.size(2))));
  }

  Tensor query, key, value, output, norm_attention, norm_mlp;
  Tensor cosines, sines;
  nn::GluMlp mlp;
};

// The largest difference, relative to the largest value.
double difference(const Tensor& got, const Tensor& want) {
  const Tensor a = to(to(contiguous(got), kCpu), DType::kF64);
  const Tensor b = to(to(contiguous(want), kCpu), DType::kF64);
  double largest = 0;
  double error = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {
    largest = std::max(largest, std::abs(b.data<double>()[i]));
    const double here = std::abs(a.data<double>()[i] - b.data<double>()[i]);
    if (!(here <= error)) error = here;  // also NaN
  }
  return error / largest;
}

struct Caches {
  explicit Caches(DType dtype, Device device)
      : keys(zeros({1, kKeyHeads, kCapacity, kDepth}, {dtype, device})),
        values(zeros({1, kKeyHeads, kCapacity, kDepth}, {dtype, device})) {}
  Tensor keys, values;
};

class DecoderLayerTest : public OnTestDevice, public ::testing::WithParamInterface<DType> {
 protected:
  // Runs the same step eagerly and compiled, and compares the results.
  void expect_same(const DecoderLayer& layer, const Compiled& compiled, const Tensor& x,
                   const Caches& eager, const Caches& caches, int64_t position) {
    // c sqrt(K) eps of the largest value, with K the longest sum and c = 4: the layer chains about
    // ten roundings, and each GEMM adds sqrt(K) of them in the worst direction.
    const double eps = GetParam() == DType::kF32 ? 0x1p-24 : 0x1p-9;
    const double bound = 4 * std::sqrt(static_cast<double>(kHidden)) * eps;
    const std::vector<Tensor> compiled_inputs = {x, caches.keys, caches.values};
    const std::vector<Tensor> eager_inputs = {x, eager.keys, eager.values};
    const std::vector<int64_t> at = {position};
    const Tensor got = compiled(compiled_inputs, at);
    const Tensor want = layer.forward(eager_inputs, at);
    EXPECT_LT(difference(got, want), bound) << position;
    EXPECT_LT(difference(caches.keys, eager.keys), bound) << position;
    EXPECT_LT(difference(caches.values, eager.values), bound) << position;
  }
};

// Both start each step from the same caches, so that errors do not add up over the tokens.
TEST_P(DecoderLayerTest, DecodesThroughOneCompiledFunction) {
  const Device device = test_device();
  const DType dtype = GetParam();
  const DecoderLayer layer(dtype, device);
  const Compiled compiled = compile(layer);
  const Caches eager(dtype, device);
  const Caches copy(dtype, device);
  const auto step = [&](int64_t position, uint64_t seed) {
    copy_(copy.keys, eager.keys);
    copy_(copy.values, eager.values);
    const Tensor x = as(randn({1, 1, kWidth}, seed), dtype, device);
    expect_same(layer, compiled, x, eager, copy, position);
  };
  const auto used_bytes = [] { return static_cast<int64_t>(::mallinfo2().uordblks); };
  int64_t after_20 = 0;
  for (int64_t position = 0; position < 300; ++position) {
    step(position, static_cast<uint64_t>(100 + position));
    if (HasFailure()) return;
    if (position == 20) after_20 = used_bytes();
  }
  EXPECT_EQ(compiled.recompiles(), 0);
  // Memory grows by the cached blocks of longer sequences and by the values that were checked,
  // about 1 kB per token. A plan that stayed would take about 40 kB.
  EXPECT_LT(used_bytes() - after_20, 280 * 4096);
}

// A prompt is another variant: more than one token, and a causal mask.
TEST_P(DecoderLayerTest, PrefillsThroughTheSameFunction) {
  const Device device = test_device();
  const DType dtype = GetParam();
  const DecoderLayer layer(dtype, device);
  const Compiled compiled = compile(layer);
  for (const int64_t tokens : {7, 12, 31}) {
    const Caches eager(dtype, device);
    const Caches caches(dtype, device);
    const Tensor prompt = as(randn({1, tokens, kWidth}, 9), dtype, device);
    expect_same(layer, compiled, prompt, eager, caches, 0);
    const Tensor next = as(randn({1, 1, kWidth}, 10), dtype, device);
    expect_same(layer, compiled, next, eager, caches, tokens);
  }
  EXPECT_EQ(compiled.recompiles(), 1);
}

INSTANTIATE_TEST_SUITE_P(DTypes, DecoderLayerTest, ::testing::Values(DType::kF32, DType::kBF16),
                         [](const auto& dtype) { return std::string(name(dtype.param)); });

}  // namespace
}  // namespace epi
