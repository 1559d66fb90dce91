// SPDX-License-Identifier: Apache-2.0
// Rules to start from. Each rule is checked before it is returned.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "epilogue/analysis/expect/expect.h"
#include "epilogue/analysis/expect/rule_parser.h"
#include "epilogue/analysis/index/op_inputs.h"
#include "epilogue/base/error.h"

namespace epi::analysis {
namespace {

// Margin over the measured time, because times vary between runs.
constexpr double kTimeMargin = 1.25;
constexpr size_t kMaxAnnotations = 50;  // more are not useful to read

// False for names that a rules file parses differently: comments, regular expressions, the built-in
// subjects.
bool is_valid_subject(std::string_view name) {
  return !name.empty() && name.front() != '#' && name.front() != '/' && name != "step" &&
         name != "trace" && name.find('\n') == std::string_view::npos;
}

// `expect --init` writes no rule that loads a second trace.
const LoadTrace kNoOtherTraces = [](const std::string& path) -> const StepModels& {
  throw Error(path + ": rules of --init load no other trace");
};

// Collects rules about a subject of the first trace. Each rule is checked before it is added.
class RuleWriter {
 public:
  RuleWriter(const StepModels& models, const StepGroup& subject, std::string name,
             std::vector<std::string>& rules)
      : models_(models), subject_(subject), name_(std::move(name)), rules_(rules) {}

  void add(const std::string& claim) {
    const std::string text = fmt::format("{}: {}", name_, claim);
    const auto result = check(text);
    if (result && result->ok) rules_.push_back(text);
  }
  // Adds "NAME: MEASURE == N" if all instances have the same count.
  void add_count(const char* measure) {
    const auto result = check(fmt::format("{}: {} >= 0", name_, measure));
    if (result && result->found_min == result->found_max && result->found_min) {
      add(fmt::format("{} == {}", measure, *result->found_min));
    }
  }

 private:
  // None if the rule does not parse back to the same subject.
  std::optional<RuleResult> check(const std::string& text) const {
    const auto rule = parse_rule(text);
    if (!rule || rule->subject_name.text() != name_) return std::nullopt;
    return check_rule(models_, *rule, subject_, kNoOtherTraces);
  }

  const StepModels& models_;
  const StepGroup& subject_;
  std::string name_;
  std::vector<std::string>& rules_;
};

void add_subject(const StepModels& models, const StepGroup& subject, const std::string& name,
                 std::vector<std::string>& rules) {
  RuleWriter writer(models, subject, name, rules);
  for (const char* measure : {"kernels", "gemm", "pointwise", "memcpy"}) writer.add_count(measure);
  writer.add("no sync");
  const double gpu_ns = subject.medians().gpu_ns;
  if (gpu_ns > 0) {
    writer.add(
        fmt::format("median gpu_time < {:.0f}us", std::max(1.0, gpu_ns * kTimeMargin / 1000)));
  }
}

// View operators launch nothing.
void add_views(const StepModels& models, std::vector<std::string>& rules) {
  const TraceIndex& index = models.index();
  std::set<std::string_view> views;
  for (const trace::EventId id : index.links.tree.order) {
    const std::string_view name = index.trace.name_of(id);
    if (is_view_op(name)) views.insert(name);
  }
  for (const std::string_view view : views) {
    const StepGroup subject = models.named(view);
    RuleWriter(models, subject, std::string(view), rules).add("gpu_time == 0");
  }
}

}  // namespace

std::vector<std::string> suggest_rules(const std::vector<const StepModels*>& traces) {
  const StepModels& first = *traces.front();
  std::vector<std::string> rules;
  size_t annotations = 0;
  for (const StepGroup& subject : first.annotations()) {
    if (!is_valid_subject(subject.name) || ++annotations > kMaxAnnotations) continue;
    add_subject(first, subject, subject.name, rules);
  }
  add_subject(first, first.judged(), "step", rules);
  add_views(first, rules);
  for (size_t i = 1; i < traces.size(); ++i) {
    std::erase_if(rules, [&](const std::string& text) {
      return !check_rule(*traces[i], parse_rule(text).value(), kNoOtherTraces).ok;
    });
  }
  return rules;
}

}  // namespace epi::analysis
