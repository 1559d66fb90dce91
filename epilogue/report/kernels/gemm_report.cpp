// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/kernels/gemm_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

using analysis::GemmRow;
using analysis::GemmTable;

std::string gemm_text(const GemmRow& row) {
  if (!row.gemm) return "?";
  return row.gemm->text();
}

std::string dash(const std::string& text) { return text.empty() ? "-" : text; }

// Numbers the kernels. Their names are listed below the table, because they do not fit into a
// column.
class KernelNotes {
 public:
  std::string number_of(const std::string& kernel) {
    auto place = std::find(names_.begin(), names_.end(), kernel);
    if (place == names_.end()) place = names_.insert(names_.end(), kernel);
    return fmt::format("{}", place - names_.begin() + 1);
  }
  std::string text(bool markdown, size_t width) const {
    std::string out = "\n";
    for (size_t i = 0; i < names_.size(); ++i) {
      out += markdown
                 ? fmt::format("{}. `{}`\n", i + 1, visible_text(names_[i], LineBreaks::kReplace))
                 : fmt::format("  {:>2}  {}\n", i + 1, hard_wrapped(names_[i], 6, width));
    }
    return out;
  }

 private:
  std::vector<std::string> names_;
};

// The peak of each data type that occurs: "bf16 989.5".
std::string peak_text(const GemmTable& table) {
  if (!table.peaks) {
    return table.device.empty() ? "peak: unknown, because the trace does not name its GPU\n"
                                : fmt::format("peak: unknown for \"{}\"\n",
                                              visible_text(table.device, LineBreaks::kReplace));
  }
  std::vector<std::string> types;
  for (const GemmRow& row : table.rows) {
    const double peak = table.peaks->of(row.name.dtype);
    const std::string text = fmt::format("{} {:g}", text_of(row.name.dtype), peak);
    if (peak > 0 && std::find(types.begin(), types.end(), text) == types.end())
      types.push_back(text);
  }
  return fmt::format(
      "peak: {}, TFLOP/s dense: {}\n      ({}{})\n", table.peaks->title, join(types, ", "),
      table.peaks->source,
      analysis::is_measured_gpu(table.device) ? "" : "; Epilogue was not measured on it");
}

}  // namespace

GemmsResult::GemmsResult(const trace::Trace& trace, std::optional<size_t> limit)
    : table(analysis::gemm_table(trace)),
      shown(std::min(table.rows.size(), limit.value_or(table.rows.size()))) {}

std::vector<GemmItem> GemmsResult::gemms() const {
  std::vector<GemmItem> items;
  for (const GemmRow& row : std::span(table.rows).first(shown)) {
    const double peak = table.peaks ? table.peaks->of(row.name.dtype) : 0;
    items.push_back({row, peak > 0 ? std::optional(peak) : std::nullopt});
  }
  return items;
}

std::optional<PeakItem> peak_of(const GemmsResult& result) {
  if (!result.table.peaks) return std::nullopt;
  return PeakItem{*result.table.peaks, analysis::is_measured_gpu(result.table.device)};
}

std::string text_of(const GemmsResult& result, const Style& style) {
  const auto& [table, shown] = result;
  if (table.rows.empty()) return "the trace has no GEMM kernels\n";
  Table out({{"M x N x K", Align::kLeft},
             {"type", Align::kLeft},
             {"tile", Align::kLeft},
             {"count", Align::kRight},
             {"median", Align::kRight},
             {"TFLOP/s", Align::kRight},
             {"of peak", Align::kRight},
             {"#", Align::kLeft}});
  KernelNotes notes;
  for (size_t i = 0; i < shown; ++i) {
    const GemmRow& row = table.rows[i];
    out.add_row(
        {gemm_text(row),
         fmt::format("{} {}", dash(std::string(text_of(row.name.dtype))), dash(row.name.layout)),
         dash(tile_text(row.name)), fmt::format("{}", row.count), time_text(row.median_ns),
         row.tflops ? four_digits(*row.tflops) : "?",
         row.share_of_peak ? fmt::format("{:.0f} %", 100 * *row.share_of_peak) : "?",
         notes.number_of(row.kernel)});
  }
  std::string text = (style.markdown ? out.markdown() : out.text()) +
                     notes.text(style.markdown, std::max<size_t>(style.width, 26));
  if (shown < table.rows.size()) {
    text += fmt::format("  {} of {} rows: --limit N shows more\n", shown, table.rows.size());
  }
  return text + '\n' + peak_text(table);
}

std::string peak_note(const GemmTable& table) {
  std::string note = peak_text(table);
  note.erase(note.find_last_not_of('\n') + 1);
  return note;
}

Table gemms_table(const GemmTable& table, size_t limit) {
  Table out({{"kernel", Align::kLeft},
             {"operator", Align::kLeft},
             {"M x N x K", Align::kLeft},
             {"count", Align::kRight},
             {"median", Align::kRight},
             {"total", Align::kRight},
             {"TFLOP/s", Align::kRight},
             {"of peak", Align::kRight}});
  for (size_t i = 0; i < std::min(limit, table.rows.size()); ++i) {
    const GemmRow& row = table.rows[i];
    out.add_row({kernel_sentence(row.kernel, row.name), dash(row.op), gemm_text(row),
                 fmt::format("{}", row.count), time_text(row.median_ns), time_text(row.total_ns),
                 row.tflops ? four_digits(*row.tflops) : "?",
                 row.share_of_peak ? fmt::format("{:.0f} %", 100 * *row.share_of_peak) : "?"});
  }
  return out;
}

}  // namespace epi::report
