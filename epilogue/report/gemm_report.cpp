// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/gemm_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/table.h"
#include "epilogue/report/text.h"
#include "epilogue/report/units.h"

namespace epi::report {
namespace {

using analysis::GemmRow;
using analysis::GemmTable;

std::string gemm_text(const GemmRow& row) {
  if (!row.gemm) return "?";
  const auto& p = *row.gemm;
  const std::string sizes = fmt::format("{}x{}x{}", p.m, p.n, p.k);
  return p.batch == 1 ? sizes : fmt::format("{} x {}", p.batch, sizes);
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

size_t shown_rows(const GemmTable& table, std::optional<size_t> limit) {
  return std::min(table.rows.size(), limit.value_or(table.rows.size()));
}

void gemm_json(JsonWriter& json, const GemmRow& row) {
  const auto number = [&](const char* key, int64_t value) {
    json.key(key);
    row.gemm ? json.integer(value) : json.null();
  };
  const analysis::GemmShape p = row.gemm.value_or(analysis::GemmShape{});
  number("batch", p.batch);
  number("m", p.m);
  number("n", p.n);
  number("k", p.k);
}

void row_json(JsonWriter& json, const GemmRow& row, double peak) {
  json.begin_object().key("op");
  row.op.empty() ? json.null() : json.string(row.op);
  gemm_json(json, row);
  json.key("count").integer(row.count);
  json.key("us_median").fixed(row.median_ns / 1000, 3);
  json.key("us_total").fixed(row.total_ns / 1000, 3);
  json.key("tflops");
  row.tflops ? json.fixed(*row.tflops, 3) : json.null();
  json.key("share_of_peak");
  row.share_of_peak ? json.fixed(*row.share_of_peak, 4) : json.null();
  json.key("peak_tflops");
  peak > 0 ? json.real(peak) : json.null();
  json.key("kernel");
  kernel_json(json, row.kernel, row.name);
  json.end_object();
}

}  // namespace

std::string gemms_text(const GemmTable& table, std::optional<size_t> limit, bool markdown,
                       size_t width) {
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
  const size_t shown = shown_rows(table, limit);
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
  std::string text =
      (markdown ? out.markdown() : out.text()) + notes.text(markdown, std::max<size_t>(width, 26));
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
  for (size_t i = 0; i < shown_rows(table, limit); ++i) {
    const GemmRow& row = table.rows[i];
    out.add_row({kernel_sentence(row.kernel, row.name), dash(row.op), gemm_text(row),
                 fmt::format("{}", row.count), time_text(row.median_ns), time_text(row.total_ns),
                 row.tflops ? four_digits(*row.tflops) : "?",
                 row.share_of_peak ? fmt::format("{:.0f} %", 100 * *row.share_of_peak) : "?"});
  }
  return out;
}

void gemms_json(JsonWriter& json, const GemmTable& table, std::optional<size_t> limit) {
  json.key("gemms").begin_array();
  for (size_t i = 0; i < shown_rows(table, limit); ++i) {
    const GemmRow& row = table.rows[i];
    row_json(json, row, table.peaks ? table.peaks->of(row.name.dtype) : 0);
  }
  json.end_array().key("device");
  table.device.empty() ? json.null() : json.string(table.device);
  json.key("peak");
  if (!table.peaks) {
    json.null();
    return;
  }
  json.begin_object().key("gpu").string(table.peaks->title);
  json.key("source").string(table.peaks->source);
  json.key("measured_here").boolean(analysis::is_measured_gpu(table.device));
  json.key("memory_tb_s").real(table.peaks->memory_tb_s);
  json.end_object();
}

}  // namespace epi::report
