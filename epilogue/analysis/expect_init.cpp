// SPDX-License-Identifier: Apache-2.0
// Rules to start from. Each is checked before it is given out: what is written holds.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "epilogue/analysis/expect.h"

namespace epi::analysis {
namespace {

// Room over the measured time, as times of another run differ.
constexpr double kTimeRoom = 1.25;

// Names that a rules file would read otherwise: comments, expressions, the two subjects.
bool can_be_written(std::string_view name) {
  return !name.empty() && name.front() != '#' && name.front() != '/' && name != "step" &&
         name != "trace" && name.find('\n') == std::string_view::npos;
}

class Writer {
 public:
  explicit Writer(const Examined& examined) : examined_(examined) {}

  // Adds the rule where it can be read back and holds; gives whether it does.
  bool add(const std::string& text) {
    const auto rule = parse_rule(text);
    const LoadTrace none = [this](const std::string&) -> const Examined& { return examined_; };
    if (!rule || !check_rule(examined_, *rule, none).ok) return false;
    rules_.push_back(text);
    return true;
  }
  // "NAME: MEASURE == N" where all instances have as many.
  void add_count(const std::string& subject, const char* measure) {
    const auto rule = parse_rule(fmt::format("{}: {} >= 0", subject, measure));
    if (!rule) return;
    const LoadTrace none = [this](const std::string&) -> const Examined& { return examined_; };
    const RuleResult result = check_rule(examined_, *rule, none);
    if (result.ok && result.found)
      add(fmt::format("{}: {} == {}", subject, measure, *result.found));
  }
  void add_times(const std::string& subject, double device_ns) {
    if (device_ns <= 0) return;
    add(fmt::format("{}: median gpu_time < {:.0f}us", subject,
                    std::max(1.0, device_ns * kTimeRoom / 1000)));
  }
  std::vector<std::string> take() { return std::move(rules_); }

 private:
  const Examined& examined_;
  std::vector<std::string> rules_;
};

void add_subject(const Subject& subject, const std::string& name, Writer& writer) {
  for (const char* measure : {"kernels", "gemm", "pointwise", "memcpy"}) {
    writer.add_count(name, measure);
  }
  writer.add(name + ": no sync");
  writer.add_times(name, median_measures(subject.group).device_ns);
}

}  // namespace

std::vector<std::string> rules_that_hold(const Examined& examined) {
  Writer writer(examined);
  for (const Subject& subject : annotation_subjects(examined)) {
    if (can_be_written(subject.group.name)) add_subject(subject, subject.group.name, writer);
  }
  add_subject(step_subject(examined), "step", writer);
  // View operators: they launch nothing.
  std::set<std::string_view> names;
  for (const trace::EventId id : examined.links.tree.order) {
    if (examined.trace.category[id] == trace::Category::kCpuOp) {
      names.insert(examined.trace.name_of(id));
    }
  }
  for (const std::string_view view : {"aten::t", "aten::transpose", "aten::view", "aten::reshape",
                                      "aten::as_strided", "aten::_unsafe_view"}) {
    if (names.count(view) > 0) writer.add(fmt::format("{}: gpu_time == 0", view));
  }
  return writer.take();
}

}  // namespace epi::analysis
