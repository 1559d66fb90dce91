// SPDX-License-Identifier: Apache-2.0
// Loops over one row: sums, maxima, softmax and norms. Sums use several lanes of double, which
// makes them fast and accurate.
#include "epilogue/cpu/loops/access.h"
#include "epilogue/cpu/loops/tables.h"

namespace epi::cpu::EPI_ISA {
namespace {

constexpr int kSumLanes = 16;

// The sum of f(x[i]) over the row, in kSumLanes partial sums.
template <typename T, typename F>
EPI_INLINE double sum_of(const T* x, int64_t count, F f) {
  double lanes[kSumLanes] = {};
  int64_t i = 0;
  for (; i + kSumLanes <= count; i += kSumLanes) {
    for (int lane = 0; lane < kSumLanes; ++lane) lanes[lane] += f(static_cast<double>(x[i + lane]));
  }
  double total = 0;
  for (; i < count; ++i) total += f(static_cast<double>(x[i]));
  for (const double lane : lanes) total += lane;
  return total;
}

template <typename T>
double sum(const T* x, int64_t count) {
  return sum_of(x, count, [](double v) { return v; });
}

template <typename T>
void accumulate(const T* __restrict x, double* __restrict sums, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += static_cast<double>(x[i]);
}

// The maximum, or NaN if either is NaN.
template <typename T>
EPI_INLINE T larger(T a, T b) {
  return a > b || a != a ? a : b;
}

template <typename T>
T max(const T* x, int64_t count) {
  constexpr int kMaxLanes = 16;
  T best = x[0];
  T lanes[kMaxLanes];
  for (T& lane : lanes) lane = x[0];
  int64_t i = 0;
  for (; i + kMaxLanes <= count; i += kMaxLanes) {
    for (int lane = 0; lane < kMaxLanes; ++lane) lanes[lane] = larger(lanes[lane], x[i + lane]);
  }
  for (; i < count; ++i) best = larger(best, x[i]);
  for (const T lane : lanes) best = larger(best, lane);
  return best;
}

template <typename T>
void accumulate_max(const T* __restrict x, T* __restrict maxima, int64_t count) {
  for (int64_t i = 0; i < count; ++i) maxima[i] = larger(maxima[i], x[i]);
}

template <typename T>
void softmax(const T* x, T* out, int64_t count) {
  const T largest = max(x, count);
  for (int64_t i = 0; i < count; ++i) out[i] = exp(x[i] - largest);
  const T scale = static_cast<T>(1.0 / sum(out, count));
  for (int64_t i = 0; i < count; ++i) out[i] *= scale;
}

template <typename T>
void layer_norm(const T* x, const T* weight, const T* bias, T* out, int64_t count, T eps) {
  const double mean = sum(x, count) / static_cast<double>(count);
  const double variance = sum_of(x, count, [mean](double v) { return (v - mean) * (v - mean); }) /
                          static_cast<double>(count);
  const T center = static_cast<T>(mean);
  const T scale = static_cast<T>(1.0 / __builtin_sqrt(variance + static_cast<double>(eps)));
  for (int64_t i = 0; i < count; ++i) {
    const T w = weight == nullptr ? T(1) : weight[i];
    const T b = bias == nullptr ? T(0) : bias[i];
    out[i] = (x[i] - center) * scale * w + b;
  }
}

template <typename T>
void rms_norm(const T* x, const T* weight, T* out, int64_t count, T eps) {
  const double mean_square =
      sum_of(x, count, [](double v) { return v * v; }) / static_cast<double>(count);
  const T scale = static_cast<T>(1.0 / __builtin_sqrt(mean_square + static_cast<double>(eps)));
  for (int64_t i = 0; i < count; ++i) {
    const T w = weight == nullptr ? T(1) : weight[i];
    out[i] = x[i] * scale * w;
  }
}

template <typename T>
constexpr RowLoops<T> row_loops() {
  return {softmax<T>, layer_norm<T>, rms_norm<T>, sum<T>, accumulate<T>, max<T>, accumulate_max<T>};
}

}  // namespace

void fill_rows(Loops& table) {
  table.rows_f32 = row_loops<float>();
  table.rows_f64 = row_loops<double>();
}

}  // namespace epi::cpu::EPI_ISA
