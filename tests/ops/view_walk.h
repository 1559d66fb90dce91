// SPDX-License-Identifier: Apache-2.0
// A random walk over the view operators, checked against a model without strides: the values in
// row-major order. Storage element i holds the value i, so the
// values of the model are also addresses.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/ops/reference.h"

namespace epi {

class ViewWalk {
 public:
  // Starts from a row-major tensor of random shape, which may be empty or have no dimensions.
  explicit ViewWalk(uint64_t seed);

  // Applies one random operator. Fails if the tensor differs from the
  // model or was copied unnecessarily.
  ::testing::AssertionResult step();
  // Whether a step had to copy.
  bool copied() const { return copied_; }

 private:
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }
  int rank() const { return model_.shape.rank(); }
  int any_dim() { return static_cast<int>(below(rank())); }
  void start(const Dims& shape);
  Dims random_shape();
  void check_reshaped(const Tensor& got, const Dims& shape);

  void step_as_strided();
  void step_expand();
  void step_flatten();
  void step_narrow();
  void step_permute();
  void step_reshape();
  void step_select();
  void step_slice();
  void step_squeeze();
  void step_t();
  void step_transpose();
  void step_unsqueeze();
  void step_view();

  std::mt19937_64 random_;
  Tensor x_;
  const Storage* storage_ = nullptr;
  RefTensor contents_;  // the storage as a one-dimensional tensor
  RefTensor model_;
  std::string path_;  // the operators applied so far, for messages
  bool copied_ = false;
};

}  // namespace epi
