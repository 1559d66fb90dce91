// SPDX-License-Identifier: Apache-2.0
// The operators of a decoder layer, compiled: results equal eager mode for sizes that change.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/compiler/compile_helpers.h"

namespace epi {
namespace {

class DecoderOps : public OnTestDevice {
 protected:
  static Tensor random(const Dims& shape, uint64_t seed) {
    return on_test_device(randn(shape, seed));
  }
  static Tensor indices(const Dims& shape, int64_t size) {
    const Tensor index = empty(shape, {DType::kI64, kCpu});
    for (int64_t i = 0; i < index.numel(); ++i) index.data<int64_t>()[i] = (i * 5 + 1) % size;
    return on_test_device(index);
  }

  // Calls the compiled function with each list of inputs. Fusion changes a few roundings. The last
  // size of an input is fixed until it changes, which compiles once more.
  static void expect_eager(const compiler::TensorFunction& function,
                           const std::vector<std::vector<Tensor>>& calls, int recompiles = 0) {
    for (const Fuse fuse : {Fuse::kNone, Fuse::kPointwise, Fuse::kEpilogue}) {
      const Compiled compiled = compile(function, {.fuse = fuse});
      for (const std::vector<Tensor>& inputs : calls) {
        const Tensor got = to(on_host(contiguous(compiled(inputs))), DType::kF64);
        const Tensor want = to(on_host(contiguous(function(inputs))), DType::kF64);
        ASSERT_EQ(got.shape(), want.shape());
        for (int64_t i = 0; i < got.numel(); ++i) {
          const double value = want.data<double>()[i];
          ASSERT_NEAR(got.data<double>()[i], value, 1e-5 * std::fmax(1, std::fabs(value))) << i;
        }
      }
      EXPECT_EQ(compiled.recompiles(), recompiles);
    }
  }
};

TEST_F(DecoderOps, PointwiseFunctionsMatchEager) {
  const auto function = [](Inputs in) {
    const Tensor angle = mul(in[0], 1000.0);
    return add(mul(cos(angle), sin(angle)), rsqrt(add(pow(in[0], 2.0), pow(exp(in[0]), 0.3))));
  };
  expect_eager(function, {{random({3, 37}, 1)}, {random({5, 37}, 2)}});
}

TEST_F(DecoderOps, PowWithTensorAndNumberExponentsMatchesEager) {
  for (const double exponent : {2.0, 3.0, 0.5, -0.5, -1.0, 0.0, 1.0, 7.0, 2.5}) {
    const auto function = [exponent](Inputs in) {
      const Tensor base = exponent == std::round(exponent) ? in[0] : exp(in[0]);
      return mul(pow(base, exponent), 0.5);
    };
    expect_eager(function, {{random({3, 37}, 1)}});
  }
  expect_eager([](Inputs in) { return neg(pow(exp(in[0]), in[1])); },
               {{random({3, 37}, 1), random({37}, 2)}, {random({5, 37}, 1), random({37}, 2)}});
}

TEST_F(DecoderOps, SelectionsMatchEager) {
  const Tensor weight = random({11, 8}, 3);
  expect_eager([&](Inputs in) { return neg(embedding(weight, in[0])); },
               {{indices({2, 3}, 11)}, {indices({4, 5}, 11)}, {indices({3, 7}, 11)}}, 1);
  const auto select = [](Inputs in) { return add(index_select(neg(in[0]), 0, in[1]), 1.0); };
  expect_eager(select, {{random({6, 8}, 1), indices({9}, 6)}, {random({6, 8}, 2), indices({4}, 6)}},
               1);
  const auto pick = [](Inputs in) { return mul(gather(neg(in[0]), 1, in[1]), 2.0); };
  expect_eager(pick,
               {{random({3, 8}, 1), indices({3, 4}, 8)}, {random({5, 8}, 2), indices({5, 4}, 8)}});
}

TEST_F(DecoderOps, WhereMatchesEager) {
  const Tensor mask = to(on_test_device(relu(randn({8}, 9))), DType::kBool);
  const auto function = [&](Inputs in) {
    const Tensor chosen = where(mask, mul(in[0], 2.0), in[0]);
    return add(where(mask, chosen, -1.0), where(mask, 3.0, in[0]));
  };
  expect_eager(function, {{random({3, 8}, 1)}, {random({7, 8}, 2)}});
}

TEST_F(DecoderOps, RankingsMatchEager) {
  expect_eager([](Inputs in) { return argmax(neg(in[0]), 1, true); },
               {{random({3, 50}, 1)}, {random({7, 50}, 2)}});
  expect_eager([](Inputs in) { return softmax(topk(neg(in[0]), 5).values, -1); },
               {{random({3, 50}, 1)}, {random({7, 50}, 2)}});
}

TEST_F(DecoderOps, CausalAttentionMatchesEager) {
  const auto attend = [](Inputs in) {
    return mul(scaled_dot_product_attention(in[0], in[1], in[2], {}, true), 2.0);
  };
  expect_eager(attend,
               {{random({2, 4, 5, 8}, 1), random({2, 4, 5, 8}, 2), random({2, 4, 5, 8}, 3)},
                {random({3, 4, 7, 8}, 1), random({3, 4, 7, 8}, 2), random({3, 4, 7, 8}, 3)}});
}

// One row per head against a cache whose length grows.
TEST_F(DecoderOps, GroupedAttentionOfOneRowMatchesEager) {
  const auto attend = [](Inputs in) {
    return scaled_dot_product_attention(in[0], in[1], in[2], {}, false, 0.5, true);
  };
  std::vector<std::vector<Tensor>> calls;
  for (const int64_t length : {5, 6, 17}) {
    calls.push_back(
        {random({2, 8, 1, 8}, 1), random({2, 2, length, 8}, 2), random({2, 2, length, 8}, 3)});
  }
  expect_eager(attend, calls);
}

TEST_F(DecoderOps, MaskedAttentionMatchesEager) {
  const auto attend = [](Inputs in) {
    return scaled_dot_product_attention(in[0], in[1], in[1], in[2], false, std::nullopt, true);
  };
  std::vector<std::vector<Tensor>> calls;
  for (const int64_t length : {5, 7, 11}) {
    const Tensor kept = to(on_test_device(relu(randn({3, length}, 4))), DType::kBool);
    calls.push_back({random({2, 4, 3, 8}, 1), random({2, 2, length, 8}, 2), kept});
  }
  expect_eager(attend, calls, 1);
}

}  // namespace
}  // namespace epi
