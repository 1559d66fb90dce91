// SPDX-License-Identifier: Apache-2.0
// The tree of a typical step on the page, as columns of JSON.
#include <fmt/format.h>

#include <algorithm>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/analysis/tree/tree_lines.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/kernels/kernel_class.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/page/page_data.h"
#include "epilogue/report/tree/tree_report.h"

namespace epi::report {

using analysis::TreeLine;
using analysis::TreeLines;

namespace {

constexpr size_t kMaxLines = 20'000;
constexpr size_t kMaxTextLength = 2000;

TreeLines lines_of(const PageFile& file, const analysis::StepModel& step) {
  const analysis::TreeRange range = range_of(step);
  const analysis::Forest forest(file.models.index(), range);
  TreeLines lines = folded_lines(file.models.index(), forest, range);
  lines.limit(kMaxLines, 1);
  return lines;
}

// The lines that are shown, parents before their children.
std::vector<size_t> shown_lines(const TreeLines& tree) {
  std::vector<size_t> shown;
  std::vector<size_t> waiting(tree.roots().rbegin(), tree.roots().rend());
  while (!waiting.empty()) {
    const size_t at = waiting.back();
    waiting.pop_back();
    const TreeLine& line = tree.lines()[at];
    if (!line.shown) continue;
    shown.push_back(at);
    waiting.insert(waiting.end(), line.children.rbegin(), line.children.rend());
  }
  return shown;
}

class TreeWriter {
 public:
  TreeWriter(const PageFile& file, size_t step, const EventPlaces& places)
      : file_(file), step_(step), places_(places) {}

  std::string text() {
    json_.begin_object().key("title");
    const analysis::StepModel& step = file_.models.steps().steps[step_];
    const TreeLines tree = lines_of(file_, step);
    const std::vector<size_t> shown = shown_lines(tree);
    json_.string(step.name);
    json_.key("left_out").integer(static_cast<int64_t>(tree.lines().size() - shown.size()));
    json_.key("rows").begin_array();
    std::vector<size_t> levels(tree.lines().size());
    for (const size_t at : shown) {
      const TreeLine& line = tree.lines()[at];
      levels[at] = line.parent == SIZE_MAX ? 0 : levels[line.parent] + 1;
      write_line(line, levels[at]);
    }
    json_.end_array().end_object();
    return json_.text();
  }

 private:
  // [level, count, name, decoded name or 0, kind or "", CPU, self, device, slowest place, first
  // place, least, most], in nanoseconds. A time that does not apply is -1.
  void write_line(const TreeLine& line, size_t level) {
    json_.begin_array().integer(static_cast<int64_t>(level)).integer(line.count);
    json_.string(line.name);
    const analysis::DecodedName decoded =
        line.device ? analysis::decode_name(line.name) : analysis::DecodedName();
    const std::string what = line.device ? kernel_sentence(line.name, decoded) : line.name;
    what == line.name ? json_.integer(0) : json_.string(what);
    json_.string(line.device ? words_of(kernel_class(decoded.kind)).key : "");
    json_.integer(line.device ? -1 : line.cpu_ns);
    json_.integer(line.device || line.is_sequence || line.is_thread ? -1 : line.self_ns);
    json_.integer(line.device || line.launched || line.device_ns > 0 ? line.device_ns : -1);
    json_.integer(places_.of(line.slowest)).integer(places_.of(line.first));
    json_.integer(line.least_ns).integer(line.most_ns).end_array();
  }

  JsonWriter json_{kMaxTextLength};
  const PageFile& file_;
  size_t step_;
  const EventPlaces& places_;
};

}  // namespace

std::vector<size_t> steps_of_trees(const PageData& data) {
  std::vector<size_t> shown;
  for (const PageFile& file : data.files) shown.push_back(file.models.steps().shown());
  if (data.files.size() < 2) return shown;
  const auto& a = data.files[0].models.steps().steps;
  const auto& b = data.files[1].models.steps().steps;
  if (a.size() != b.size()) return shown;
  const auto apart = [&](size_t in_a, size_t in_b) {
    return std::abs(std::ssize(a[in_a].owned.work) - std::ssize(b[in_b].owned.work));
  };
  for (size_t i = 0; i < a.size(); ++i) {
    if (apart(i, i) > apart(shown[0], shown[1])) shown = {i, i};
  }
  return shown;
}

std::string tree_json(const PageFile& file, size_t step, const EventPlaces& places) {
  return TreeWriter(file, step, places).text();
}

}  // namespace epi::report
