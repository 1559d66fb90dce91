// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/regime_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/report/units.h"
#include "epilogue/report/words.h"

namespace epi::report {
namespace {

using analysis::Bound;
using analysis::kBounds;

void optional_json(JsonWriter& json, const char* key, const std::optional<double>& value,
                   double scale, int decimals) {
  json.key(key);
  value ? json.fixed(*value * scale, decimals) : json.null();
}

}  // namespace

std::string use_text(const analysis::TimeUse& use) {
  std::vector<Bound> order;
  for (size_t i = 0; i < kBounds; ++i) order.push_back(static_cast<Bound>(i));
  std::stable_sort(order.begin(), order.end(),
                   [&](Bound a, Bound b) { return use.share(a) > use.share(b); });
  std::string text = fmt::format("{}: {:.0f} % of {}", text_of(order[0]), 100 * use.share(order[0]),
                                 time_text(use.window_ns));
  const char* before = "; ";
  for (size_t i = 1; i < order.size(); ++i) {
    if (use.share(order[i]) < 0.005) continue;
    text += fmt::format("{}{} {:.0f} %", before, text_of(order[i]), 100 * use.share(order[i]));
    before = ", ";
  }
  return text;
}

void use_json(JsonWriter& json, const analysis::TimeUse& use) {
  json.key("name").string(use.name).key("bound_by").string(text_of(use.bound()));
  json.key("window_us").fixed(use.window_ns / 1000, 3);
  for (size_t i = 0; i < kBounds; ++i) {
    json.key(fmt::format("{}_us", text_of(static_cast<Bound>(i))));
    json.fixed(use.ns[i] / 1000, 3);
  }
}

std::string rate_text(const analysis::KernelRate& rate) {
  const auto arithmetic = rate.is_arithmetic();
  if (!arithmetic) return "-";
  return *arithmetic ? fmt::format("{:.0f} % FLOP/s", 100 * *rate.of_arithmetic)
                     : fmt::format("{:.0f} % B/s", 100 * *rate.of_bandwidth);
}

void rate_json(JsonWriter& json, const analysis::KernelRate& rate) {
  const auto per_ns = [&](const std::optional<double>& amount) -> std::optional<double> {
    if (!amount || rate.ns <= 0) return std::nullopt;
    return *amount / rate.ns;
  };
  optional_json(json, "tflops", per_ns(rate.flops), 1e-3, 3);
  optional_json(json, "gb_s", per_ns(rate.bytes), 1, 3);
  optional_json(json, "of_peak_flops", rate.of_arithmetic, 1, 4);
  optional_json(json, "of_peak_bandwidth", rate.of_bandwidth, 1, 4);
}

}  // namespace epi::report
