// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/compare/kernel_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "epilogue/analysis/index/statistics.h"

namespace epi::analysis {
namespace {

// By step.
struct Sums {
  std::vector<double> ns;
  std::vector<double> calls;

  void add(const Sums& other) {
    for (size_t i = 0; i < ns.size(); ++i) {
      ns[i] += other.ns[i];
      calls[i] += other.calls[i];
    }
  }
};

std::unordered_map<trace::NameId, Sums> sums_by_name(const StepModels& models) {
  const trace::Trace& trace = models.index().trace;
  const auto& steps = models.judged().steps;
  std::unordered_map<trace::NameId, Sums> names;
  for (size_t i = 0; i < steps.size(); ++i) {
    for (const trace::EventId id : steps[i].owned.work) {
      Sums& sums = names[trace.name[id]];
      sums.ns.resize(steps.size());
      sums.calls.resize(steps.size());
      sums.ns[i] += static_cast<double>(trace.dur_ns[id]);
      ++sums.calls[i];
    }
  }
  return names;
}

void add_side(const StepModels& models, const KernelTitle& title_of, size_t side,
              std::map<std::string, KernelChange>& changes) {
  const TraceIndex& index = models.index();
  std::map<std::string, Sums> by_title;
  for (auto& [name, sums] : sums_by_name(models)) {
    const DecodedName& decoded = index.names[name];
    const std::string title = title_of(index.trace.names[name], decoded);
    changes.try_emplace(title, KernelChange{title, decoded.kind, {}});
    const auto [place, is_new] = by_title.try_emplace(title, sums);
    if (!is_new) place->second.add(sums);
  }
  for (const auto& [title, sums] : by_title) {
    KernelSide& one = changes.at(title).sides[side];
    for (const double calls : sums.calls) one.total += static_cast<int64_t>(calls);
    one.ns = median(sums.ns);
    one.calls = median(sums.calls);
  }
}

}  // namespace

KernelChangeKind KernelChange::change() const {
  const auto& [a, b] = sides;
  if (a.total == 0) return KernelChangeKind::kNew;
  if (b.total == 0) return KernelChangeKind::kGone;
  if (b.calls != a.calls) {
    return b.calls > a.calls ? KernelChangeKind::kMoreCalls : KernelChangeKind::kFewerCalls;
  }
  if (std::abs(difference_ns()) <= kMinKernelChange * std::max(a.ns, b.ns)) {
    return KernelChangeKind::kSame;
  }
  return b.ns > a.ns ? KernelChangeKind::kSlower : KernelChangeKind::kFaster;
}

std::vector<KernelChange> kernel_changes(const StepModels& a, const StepModels& b,
                                         const KernelTitle& title_of) {
  std::map<std::string, KernelChange> by_title;
  add_side(a, title_of, 0, by_title);
  add_side(b, title_of, 1, by_title);
  std::vector<KernelChange> changes;
  for (auto& [title, change] : by_title) changes.push_back(std::move(change));
  std::stable_sort(changes.begin(), changes.end(), [](const auto& x, const auto& y) {
    return std::abs(x.difference_ns()) > std::abs(y.difference_ns());
  });
  return changes;
}

}  // namespace epi::analysis
