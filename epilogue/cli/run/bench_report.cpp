// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run/bench_report.h"

#include <fmt/format.h>

#include "epilogue/cli/run/break_even.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"

namespace epi::cli {
namespace {

void spread_json(JsonWriter& json, const char* name, const Spread& spread, double scale) {
  json.key(name).fixed(spread.median * scale, 3);
  json.key(fmt::format("{}_p10", name)).fixed(spread.p10 * scale, 3);
  json.key(fmt::format("{}_p90", name)).fixed(spread.p90 * scale, 3);
}

void mode_json(JsonWriter& json, const ModeResult& mode, const ModeResult& eager,
               const Peaks& peaks) {
  const bool is_eager = &mode == &eager;
  json.begin_object();
  json.key("mode").string(mode.mode);
  json.key("kernels_per_forward").integer(mode.kernels);
  json.key("bytes_per_forward").integer(mode.bytes);
  json.key("flops_per_forward").integer(mode.flops);
  spread_json(json, "us_per_forward", mode.time_ns, 1e-3);
  spread_json(json, "ratio_to_eager", mode.ratio, 1);
  json.key("share_of_peak").fixed(share_of_peak(mode, peaks), 3);
  json.key("first_call_us");
  is_eager ? json.null() : json.fixed(mode.first_call_ns / 1000, 3);
  json.key("pays_back_after");
  const BreakEven even = break_even(mode.first_call_ns, mode.saved_ns);
  is_eager || !even.forwards ? json.null() : json.integer(*even.forwards);
  json.key("pays_back_is_sure").boolean(is_eager || even.is_conclusive);
  json.end_object();
}

}  // namespace

report::Table mode_table(const std::vector<ModeResult>& modes, const Peaks& peaks) {
  using report::Align;
  report::Table table({{"mode", Align::kLeft},
                       {"kernels", Align::kRight},
                       {"moved", Align::kRight},
                       {"time", Align::kRight},
                       {"ratio", Align::kRight},
                       {"% peak", Align::kRight},
                       {"1st call", Align::kRight},
                       {"paid", Align::kRight}});
  const ModeResult& eager = modes[0];
  for (const ModeResult& mode : modes) {
    const bool is_eager = &mode == &eager;
    const BreakEven even = break_even(mode.first_call_ns, mode.saved_ns);
    table.add_row({mode.mode, fmt::format("{}", mode.kernels),
                   report::bytes_text(static_cast<double>(mode.bytes)),
                   report::time_text(mode.time_ns.median), fmt::format("{:.3f}", mode.ratio.median),
                   fmt::format("{:.0f}", 100 * share_of_peak(mode, peaks)),
                   is_eager ? "-" : report::time_text(mode.first_call_ns),
                   is_eager ? "-" : even.text()});
  }
  return table;
}

std::string mode_table_legend() {
  return report::wrapped(
      "moved: bytes read and written. ratio: time relative to eager, median over rounds. % peak: "
      "time "
      "at the measured peaks over the time taken. 1st call: extra time of the first call, without "
      "the "
      "code cache. paid: forwards until that time is recovered (never: slower than eager, ?: "
      "rounds "
      "disagree on which is faster).",
      80);
}

std::string spread_text(const std::vector<ModeResult>& modes) {
  if (modes.size() == 1) {
    const Spread& time = modes[0].time_ns;
    return fmt::format("  time p10 to p90: {} to {}\n", report::time_text(time.p10),
                       report::time_text(time.p90));
  }
  std::string out = "ratio p10 to p90:";
  for (size_t i = 1; i < modes.size(); ++i) {
    out += fmt::format(" {} {:.3f} to {:.3f}{}", modes[i].mode, modes[i].ratio.p10,
                       modes[i].ratio.p90, i + 1 < modes.size() ? "," : "");
  }
  return report::indented(out, 2, 80) + '\n';
}

void modes_json(JsonWriter& json, const std::vector<ModeResult>& modes, const Peaks& peaks) {
  json.key("modes").begin_array();
  for (const ModeResult& mode : modes) mode_json(json, mode, modes[0], peaks);
  json.end_array();
}

}  // namespace epi::cli
