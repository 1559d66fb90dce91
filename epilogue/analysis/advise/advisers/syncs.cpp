// SPDX-License-Identifier: Apache-2.0
// Calls that wait for the device.
#include <algorithm>
#include <map>

#include "epilogue/analysis/advise/advisers.h"
#include "epilogue/analysis/index/enclosing.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

// How long the device is idle after a wait, until the next work launched after it starts.
class IdleAfterWaits {
 public:
  explicit IdleAfterWaits(const AdviserInput& input) : input_(input) {
    const auto& work = input.work;  // by launch time
    const trace::Trace& trace = input.index.trace;
    ends_.resize(work.size() + 1, INT64_MIN);
    starts_.resize(work.size() + 1, INT64_MAX);
    for (size_t i = 0; i < work.size(); ++i) {
      ends_[i + 1] = std::max(ends_[i], trace.end_ns(work[i]));
    }
    for (size_t i = work.size(); i-- > 0;) {
      starts_[i] = std::min(starts_[i + 1], trace.ts_ns[work[i]]);
    }
  }

  double after(EventId wait) const {
    const int64_t wait_ns = input_.index.trace.ts_ns[wait];
    const auto& work = input_.work;
    const auto after_wait = std::lower_bound(
        work.begin(), work.end(), wait_ns,
        [&](EventId id, int64_t ns) { return input_.index.links.launch_ns[id] < ns; });
    const auto place = static_cast<size_t>(after_wait - work.begin());
    if (starts_[place] == INT64_MAX) return 0;
    const int64_t last = std::max(ends_[place], wait_ns);
    return static_cast<double>(std::max<int64_t>(0, starts_[place] - last));
  }

 private:
  const AdviserInput& input_;
  std::vector<int64_t> ends_;    // [i]: latest end of the first i
  std::vector<int64_t> starts_;  // [i]: earliest start from i on
};

// Which waits of a step a program could do without.
class RemovableWaits {
 public:
  explicit RemovableWaits(const AdviserInput& input) : input_(input), trace_(input.index.trace) {}

  bool contains(EventId wait) const {
    return !is_closing(wait) && follows_own_work(wait) && !is_in_library(wait);
  }

 private:
  // A call at the end of a step that waits for its work: the program needs the results.
  bool is_closing(EventId wait) const {
    const auto& launches = input_.step.owned.launches;
    return launches.empty() || trace_.ts_ns[launches.back()] <= trace_.ts_ns[wait];
  }
  // Otherwise it waits for the queue of an earlier step, which takes its time anyway.
  bool follows_own_work(EventId wait) const {
    return !input_.work.empty() &&  // by launch time
           input_.index.links.launch_ns[input_.work.front()] < trace_.end_ns(wait);
  }
  // cuDNN and MIOpen time their algorithms inside an operator.
  bool is_in_library(EventId wait) const {
    return find_enclosing(input_.index, input_.index.links.tree.parent[wait], [&](EventId id) {
             const std::string_view name = trace_.name_of(id);
             const auto has = [&](std::string_view part) {
               return name.find(part) != std::string_view::npos;
             };
             return trace_.category[id] == trace::Category::kCpuOp &&
                    (has("cudnn") || has("miopen") || has("convolution"));
           }) != kNoEvent;
  }

  const AdviserInput& input_;
  const trace::Trace& trace_;
};

}  // namespace

AdviceList advise_syncs(const AdviserInput& input) {
  const TraceIndex& index = input.index;
  const IdleAfterWaits idle_after_waits(input);
  const RemovableWaits removable(input);
  std::map<std::string, Advice> by_op;
  for (const EventId id : input.step.owned.syncs) {
    if (!removable.contains(id)) continue;
    const EventId op = index.links.op[id];
    const bool in_op = op != kNoEvent && index.trace.category[op] == trace::Category::kCpuOp;
    const std::string name(index.trace.name_of(in_op ? op : id));
    Advice& one = by_op[name];
    if (one.terms.empty()) {
      one.kind = AdviceKind::kSync;
      one.about = {name};
      one.terms = {
          {Term::What::kCalls, 0}, {Term::What::kCpuWaits, 0}, {Term::What::kIdleAfter, 0}};
    }
    const double idle_ns = idle_after_waits.after(id);
    const auto waits_ns = static_cast<double>(index.trace.dur_ns[id]);
    one.terms[0].value += 1;
    one.terms[1].value += waits_ns;
    one.terms[2].value += idle_ns;
    one.removes_ns.likely += idle_ns;
    one.removes_ns.high += std::max(idle_ns, waits_ns);
    one.events.push_back(id);
  }
  AdviceList list;
  for (auto& [name, one] : by_op) {
    if (one.removes_ns.likely > 0) list.push_back(std::move(one));
  }
  return list;
}

}  // namespace epi::analysis
