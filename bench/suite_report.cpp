// SPDX-License-Identifier: Apache-2.0
#include "bench/suite_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "epilogue/base/json_writer.h"
#include "epilogue/base/machine.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/openblas.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/units.h"

namespace epi::bench {
namespace {

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(std::lround(q * static_cast<double>(values.size() - 1)))];
}

std::string limit_text(const Contest& contest) {
  const bool ratio = contest.rival.body && contest.bound != Bound::kSlowerByAtMost;
  return fmt::format("{} {}{}", contest.bound == Bound::kAtLeast ? ">=" : "<=", contest.limit,
                     ratio ? "x" : " ns");
}

std::vector<double> turn_values(const Contest& contest) {
  if (!contest.rival.body) return contest.ours_ns;
  if (contest.bound == Bound::kSlowerByAtMost) {
    return {quantile(contest.ours_ns, 0) - quantile(contest.rival_ns, 0)};
  }
  std::vector<double> values;
  for (size_t i = 0; i < contest.ours_ns.size(); ++i) {
    const double ours = contest.ours_ns[i];
    const double rival = contest.rival_ns[i];
    values.push_back(contest.bound == Bound::kAtMost ? ours / rival
                                                     : contest.work_ratio * rival / ours);
  }
  return values;
}

void add_side(report::Table& table, const Contest& contest, const std::string& name,
              const std::vector<double>& ns) {
  const double median_ns = quantile(ns, 0.5);
  table.add_row({name, report::time_text(quantile(ns, 0)), report::time_text(median_ns),
                 report::time_text(quantile(ns, 0.9)),
                 contest.gemm ? text_of(peak_share(*contest.gemm, median_ns)) : ""});
}

void json_side(JsonWriter& json, const char* key, const std::string& name,
               const std::vector<double>& ns) {
  if (ns.empty()) {
    json.key(key).null();
    return;
  }
  json.key(key).begin_object().key("name").string(name);
  json.key("minimum_us").fixed(quantile(ns, 0) / 1000, 3);
  json.key("median_us").fixed(quantile(ns, 0.5) / 1000, 3);
  json.key("p90_us").fixed(quantile(ns, 0.9) / 1000, 3).end_object();
}

}  // namespace

Verdict judge(const Contest& contest) {
  const auto values = turn_values(contest);
  const double median = quantile(values, 0.5);
  const bool holds =
      contest.bound == Bound::kAtLeast ? median >= contest.limit : median <= contest.limit;
  return {contest.text,          limit_text(contest),   &contest, median,
          quantile(values, 0.1), quantile(values, 0.9), holds};
}

Verdict judge(const Measurement& measurement) {
  const double value = *measurement.value;
  return {measurement.text,
          fmt::format("<= {} {}", measurement.limit, measurement.unit),
          nullptr,
          value,
          value,
          value,
          value <= measurement.limit};
}

void print_text(const std::vector<Verdict>& verdicts) {
  using report::Align;
  fmt::print("{}, {} threads, loops for {}, OpenBLAS core {}\n\n", cpu_name(), num_threads(),
             name(cpu_isa()), cpu::openblas().core);
  report::Table times({{"side", Align::kLeft},
                       {"minimum", Align::kRight},
                       {"median", Align::kRight},
                       {"p90", Align::kRight},
                       {"% peak", Align::kRight}});
  report::Table claims({{"claim", Align::kLeft},
                        {"median", Align::kRight},
                        {"p10", Align::kRight},
                        {"p90", Align::kRight},
                        {"limit", Align::kRight},
                        {"", Align::kLeft}});
  for (const Verdict& v : verdicts) {
    if (v.contest != nullptr) {
      const Contest& contest = *v.contest;
      add_side(times, contest, contest.ours.name, contest.ours_ns);
      if (contest.rival.body) add_side(times, contest, contest.rival.name, contest.rival_ns);
    }
    claims.add_row({v.text, fmt::format("{:.3g}", v.median), fmt::format("{:.3g}", v.p10),
                    fmt::format("{:.3g}", v.p90), v.limit, v.holds ? "ok" : "BROKEN"});
  }
  fmt::print("{}\n{}", times.text(), claims.text());
}

void print_json(const std::vector<Verdict>& verdicts) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1).key("cpu").string(cpu_name());
  json.key("threads").integer(num_threads()).key("openblas").string(cpu::openblas().core);
  json.key("claims").begin_array();
  for (const Verdict& v : verdicts) {
    json.begin_object().key("claim").string(v.text).key("median").fixed(v.median, 3);
    json.key("p10").fixed(v.p10, 3).key("p90").fixed(v.p90, 3);
    json.key("limit").string(v.limit).key("holds").boolean(v.holds);
    const Contest none{};
    const Contest& contest = v.contest == nullptr ? none : *v.contest;
    json_side(json, "ours", contest.ours.name, contest.ours_ns);
    json_side(json, "rival", contest.rival.name, contest.rival_ns);
    if (contest.gemm) {
      const PeakShare share = peak_share(*contest.gemm, quantile(contest.ours_ns, 0.5));
      json.key("share_of_peak").fixed(share.share, 3);
      json.key("peak").string(share.is_bandwidth ? "bandwidth" : "compute");
    }
    json.end_object();
  }
  json.end_array().end_object();
  fmt::print("{}\n", json.text());
}

}  // namespace epi::bench
