// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/view_walk.h"

#include <algorithm>
#include <numeric>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"

namespace epi {
namespace {

constexpr int64_t kMaxElements = 400;  // limit for `expand`

// Whether a stride per dimension of `shape` reproduces `addresses`. This checks by brute force
// whether a view exists.
bool is_affine(const std::vector<double>& addresses, const Dims& shape) {
  if (addresses.empty()) return true;
  Dims strides = Dims::filled(shape.rank(), 0);
  int64_t inner = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (shape[d] > 1) {
      strides[d] = static_cast<int64_t>(addresses[static_cast<size_t>(inner)] - addresses[0]);
    }
    inner *= shape[d];
  }
  bool affine = true;
  ref::for_each_index(shape, [&](const Dims& index, size_t i) {
    int64_t at = static_cast<int64_t>(addresses[0]);
    for (int d = 0; d < shape.rank(); ++d) at += index[d] * strides[d];
    affine = affine && at == static_cast<int64_t>(addresses[i]);
  });
  return affine;
}

}  // namespace

ViewWalk::ViewWalk(uint64_t seed) : random_(seed) {
  Dims shape;
  const int64_t rank = below(4);
  for (int64_t i = 0; i < rank; ++i) shape.push_back(below(16) == 0 ? 0 : 1 + below(4));
  start(shape);
}

void ViewWalk::start(const Dims& shape) {
  const int64_t count = numel(shape);
  x_ = view(arange(count), shape);
  storage_ = x_.storage().get();
  contents_ = {{count}, std::vector<double>(static_cast<size_t>(count))};
  std::iota(contents_.values.begin(), contents_.values.end(), 0.0);
  model_ = ref::reshape(contents_, shape);
  path_ += " from " + to_string(shape);
}

::testing::AssertionResult ViewWalk::step() {
  static constexpr void (ViewWalk::* kSteps[])() = {
      &ViewWalk::step_as_strided, &ViewWalk::step_expand,    &ViewWalk::step_flatten,
      &ViewWalk::step_narrow,     &ViewWalk::step_permute,   &ViewWalk::step_reshape,
      &ViewWalk::step_select,     &ViewWalk::step_slice,     &ViewWalk::step_squeeze,
      &ViewWalk::step_t,          &ViewWalk::step_transpose, &ViewWalk::step_unsqueeze,
      &ViewWalk::step_view};
  (this->*kSteps[below(std::ssize(kSteps))])();
  path_ += " -> " + to_string(x_.shape());
  if (x_.storage().get() != storage_) return ::testing::AssertionFailure() << "copied:" << path_;
  return same(x_, model_) << path_;
}

void ViewWalk::step_t() {
  if (rank() > 2) return;
  path_ += " t";
  x_ = t(x_);
  if (rank() == 2) model_ = ref::transpose(model_, 0, 1);
}

void ViewWalk::step_transpose() {
  if (rank() == 0) return;
  const int d0 = any_dim();
  const int d1 = any_dim();
  path_ += " transpose";
  x_ = transpose(x_, d0 - rank(), d1);
  model_ = ref::transpose(model_, d0, d1);
}

void ViewWalk::step_permute() {
  Dims order;
  for (int i = 0; i < rank(); ++i) order.insert(static_cast<int>(below(i + 1)), i);
  path_ += " permute";
  x_ = permute(x_, order);
  model_ = ref::permute(model_, order);
}

// A random shape with the same number of elements: a random factorization of it.
Dims ViewWalk::random_shape() {
  int64_t left = numel(model_.shape);
  if (left == 0) return {0, below(3)};
  Dims shape;
  while (left > 1 && shape.rank() < 5) {
    int64_t factor = 1 + below(std::min<int64_t>(left, 6));
    while (left % factor != 0) --factor;
    shape.push_back(factor);
    left /= factor;
  }
  if (left > 1) shape.push_back(left);
  return shape;
}

// Checks that `got` is a view exactly if one exists, and a row-major copy otherwise.
void ViewWalk::check_reshaped(const Tensor& got, const Dims& shape) {
  const bool viewable = is_affine(model_.values, shape);
  EXPECT_EQ(got.storage() == x_.storage(), viewable) << path_ << " -> " << to_string(shape);
  const RefTensor want = ref::reshape(model_, shape);
  EXPECT_TRUE(same(got, want)) << path_ << " -> " << to_string(shape);
  x_ = got;
  model_ = want;
  if (viewable) return;
  copied_ = true;
  start(shape);  // a new arange, so values are addresses again
}

void ViewWalk::step_reshape() {
  const Dims shape = random_shape();
  path_ += " reshape";
  check_reshaped(reshape(x_, shape), shape);
}

void ViewWalk::step_view() {
  const Dims shape = random_shape();
  path_ += " view";
  if (is_affine(model_.values, shape)) {
    check_reshaped(view(x_, shape), shape);
  } else {
    EXPECT_TRUE(fails("view", {to_string(shape)}, [&] { view(x_, shape); })) << path_;
  }
}

void ViewWalk::step_flatten() {
  if (rank() == 0) return;
  int from = any_dim();
  int to = any_dim();
  if (from > to) std::swap(from, to);
  Dims shape;
  for (int i = 0; i < rank(); ++i) {
    if (i > from && i <= to) {
      shape[from] *= model_.shape[i];
    } else {
      shape.push_back(model_.shape[i]);
    }
  }
  path_ += " flatten";
  check_reshaped(flatten(x_, from, to - rank()), shape);
}

void ViewWalk::step_unsqueeze() {
  if (rank() == 6) return;
  const int d = static_cast<int>(below(rank() + 1));
  path_ += " unsqueeze";
  x_ = unsqueeze(x_, d);
  model_.shape.insert(d, 1);
}

void ViewWalk::step_squeeze() {
  path_ += " squeeze";
  x_ = squeeze(x_);
  Dims kept;
  for (const int64_t size : model_.shape) {
    if (size != 1) kept.push_back(size);
  }
  model_.shape = kept;
}

void ViewWalk::step_expand() {
  Dims shape = model_.shape;
  for (int i = 0; i < rank(); ++i) {
    if (shape[i] == 1) shape[i] = 1 + below(3);
  }
  if (rank() < 5 && below(2) == 0) shape.insert(0, 1 + below(3));
  if (numel(shape) > kMaxElements) return;
  path_ += " expand";
  x_ = expand(x_, shape);
  model_ = ref::expand(model_, shape);
}

void ViewWalk::step_narrow() {
  if (rank() == 0) return;
  const int d = any_dim();
  const int64_t first = below(model_.shape[d] + 1);
  const int64_t length = below(model_.shape[d] - first + 1);
  if (length == 0 && below(4) != 0) return;  // keeps most walks from becoming empty
  path_ += " narrow";
  x_ = narrow(x_, d, first, length);
  model_ = ref::slice(model_, d, first, first + length);
}

void ViewWalk::step_select() {
  if (rank() == 0) return;
  const int d = any_dim();
  if (model_.shape[d] == 0) return;
  const int64_t index = below(model_.shape[d]);
  path_ += " select";
  x_ = select(x_, d, index - model_.shape[d]);
  model_ = ref::select(model_, d, index);
}

void ViewWalk::step_slice() {
  if (rank() == 0) return;
  const int d = any_dim();
  const int64_t first = below(model_.shape[d] + 1);
  const int64_t step = 1 + below(3);
  if (first == model_.shape[d] && below(4) != 0) return;
  path_ += " slice";
  x_ = slice(x_, d, first, model_.shape[d] + 9, step);
  model_ = ref::slice(model_, d, first, model_.shape[d], step);
}

// Random strides starting at a random element, limited to the size of the storage.
void ViewWalk::step_as_strided() {
  if (contents_.values.empty()) return;
  const int64_t offset = below(contents_.shape[0]);
  int64_t room = contents_.shape[0] - 1 - offset;
  Layout layout;
  for (int64_t i = below(4); i > 0; --i) {
    const int64_t stride = below(5);
    const int64_t size = 1 + std::min<int64_t>(below(4), stride == 0 ? 3 : room / stride);
    room -= (size - 1) * stride;
    layout.shape.push_back(size);
    layout.strides.push_back(stride);
  }
  path_ += " as_strided" + to_string(layout.strides);
  x_ = as_strided(x_, layout.shape, layout.strides, offset);
  model_ = ref::gather(contents_, layout.shape, [&](const Dims& index) {
    Dims at{offset};
    for (int d = 0; d < index.rank(); ++d) at[0] += index[d] * layout.strides[d];
    return at;
  });
}

}  // namespace epi
