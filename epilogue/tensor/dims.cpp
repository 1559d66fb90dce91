// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/dims.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"

namespace epi {

Dims::Dims(std::span<const int64_t> values) {
  if (values.size() > kMaxRank) {
    fail("tensor", "rank {} is over the limit of {} dimensions", values.size(), kMaxRank);
  }
  rank_ = static_cast<int>(values.size());
  std::copy(values.begin(), values.end(), values_.begin());
}

Dims Dims::filled(int rank, int64_t value) {
  Dims dims;
  for (int i = 0; i < rank; ++i) dims.push_back(value);
  return dims;
}

void Dims::push_back(int64_t value) { insert(rank_, value); }

void Dims::insert(int at, int64_t value) {
  if (rank_ == kMaxRank) {
    fail("tensor", "rank {} is over the limit of {} dimensions", rank_ + 1, kMaxRank);
  }
  for (int i = rank_; i > at; --i) (*this)[i] = (*this)[i - 1];
  (*this)[at] = value;
  ++rank_;
}

void Dims::erase(int at) {
  for (int i = at; i + 1 < rank_; ++i) (*this)[i] = (*this)[i + 1];
  --rank_;
}

bool Dims::operator==(const Dims& other) const {
  return rank_ == other.rank_ && std::equal(begin(), end(), other.begin());
}

std::string to_string(const Dims& dims) { return fmt::format("[{}]", join(dims, ", ")); }

}  // namespace epi
