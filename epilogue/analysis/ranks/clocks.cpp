// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/clocks.h"

#include <algorithm>
#include <cmath>

#include "epilogue/analysis/index/statistics.h"

namespace epi::analysis {
namespace {

// With six values, the median lies between the smallest and the largest in 97 % of all cases.
constexpr size_t kMinPoints = 6;
constexpr size_t kMaxPoints = 200;  // for the slope, whose time grows with their square

struct Point {
  double ns;      // when
  double offset;  // difference of the ends
};

// The median of the slopes between all pairs of points (Theil and Sen), which outliers hardly
// change.
double slope_of(const std::vector<Point>& points) {
  const size_t step = (points.size() + kMaxPoints - 1) / kMaxPoints;
  std::vector<double> slopes;
  for (size_t i = 0; i < points.size(); i += step) {
    for (size_t j = i + step; j < points.size(); j += step) {
      if (points[j].ns > points[i].ns) {
        slopes.push_back((points[j].offset - points[i].offset) / (points[j].ns - points[i].ns));
      }
    }
  }
  return median(std::move(slopes));
}

std::vector<double> without_drift(const std::vector<Point>& points, double slope, double center) {
  std::vector<double> values;
  for (const Point& point : points) values.push_back(point.offset - slope * (point.ns - center));
  std::sort(values.begin(), values.end());
  return values;
}

double noise_of(const std::vector<double>& values) {
  const double middle = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return median(std::move(distances));
}

// The interval of the median from order statistics: no assumption on the distribution.
ClockOffset offset_of(const std::vector<Point>& points) {
  const auto count = static_cast<double>(points.size());
  const double span = points.back().ns - points.front().ns;
  const double center = points.front().ns + span / 2;
  constexpr double kSigmas = 1.4826;  // of a normal distribution, per median distance
  double slope = slope_of(points);
  const double deviation = kSigmas * noise_of(without_drift(points, slope, center));
  // Four standard errors, because a job has many ranks. A shorter time shows no drift.
  constexpr double kMinSpanNs = 0.5e9;
  const double slope_error = span > 0 ? deviation / (span * std::sqrt(count / 12)) : 0;
  if (span < kMinSpanNs || std::abs(slope) <= 4 * slope_error) slope = 0;
  const std::vector<double> values = without_drift(points, slope, center);
  const auto low = static_cast<size_t>(std::max(0.0, (count - 1.96 * std::sqrt(count)) / 2));
  ClockOffset result;
  result.offset_ns = median(values);
  result.low_ns = values[low];
  result.high_ns = values[values.size() - 1 - low];
  result.drift = slope;
  result.collectives = static_cast<int64_t>(points.size());
  return result;
}

}  // namespace

std::vector<std::optional<ClockOffset>> clock_offsets(const std::vector<RankData>& ranks,
                                                      const std::vector<MatchedGroup>& groups) {
  std::vector<std::optional<ClockOffset>> result(ranks.size());
  const auto largest = std::find_if(groups.begin(), groups.end(),
                                    [](const MatchedGroup& group) { return group.is_matched; });
  if (largest == groups.end()) return result;
  for (size_t member = 0; member < largest->members.size(); ++member) {
    const RankData& first = ranks[largest->members[0]];
    const RankData& other = ranks[largest->members[member]];
    std::vector<Point> points;
    int64_t origin = 0;  // keeps the digits of a double
    for (const Match& match : largest->matches) {
      if (match.at[0] < 0 || match.at[member] < 0) continue;
      const int64_t end = first.collectives[static_cast<size_t>(match.at[0])].when.end;
      const int64_t end_other = other.collectives[static_cast<size_t>(match.at[member])].when.end;
      if (points.empty()) origin = end;
      points.push_back({static_cast<double>(end - origin), static_cast<double>(end_other - end)});
    }
    if (points.size() < kMinPoints) continue;
    std::sort(points.begin(), points.end(),
              [](const Point& a, const Point& b) { return a.ns < b.ns; });
    result[largest->members[member]] = offset_of(points);
  }
  return result;
}

}  // namespace epi::analysis
