// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/compare_kernels.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>

namespace epi::analysis {
namespace {

// "mul" of "aten::mul_".
std::string_view plain_op(std::string_view op) {
  if (op.starts_with("aten::")) op.remove_prefix(6);
  if (op.ends_with('_') && !op.ends_with("__")) op.remove_suffix(1);
  return op;
}

// Adds to the list's entry of this name, or makes one.
void count(std::vector<NamedCount>& list, std::string_view name) {
  const auto place = std::find_if(list.begin(), list.end(),
                                  [&](const NamedCount& entry) { return entry.name == name; });
  if (place == list.end()) {
    list.push_back({std::string(name), 1});
  } else {
    ++place->count;
  }
}

// Takes what `wanted` accepts out of the list; gives whether there was one.
template <typename Wanted>
bool take(std::vector<WorkItem>& list, Wanted&& wanted, WorkItem* taken = nullptr) {
  const auto place = std::find_if(list.begin(), list.end(), wanted);
  if (place == list.end()) return false;
  if (taken != nullptr) *taken = std::move(*place);
  list.erase(place);
  return true;
}

const KernelName& name_of(const WorkSide& side, const WorkItem& item) {
  return side.examined.names[side.examined.trace.name[item.event]];
}

bool runs_op(const WorkSide& side, const WorkItem& item, const std::string& op) {
  if (plain_op(item.op) == op) return true;
  const auto& ops = name_of(side, item).ops;
  return ops.size() == 1 && ops.front() == op;
}

void add_fusion(std::vector<Fusion>& fusions, std::vector<std::string> ops,
                std::string_view kernel) {
  for (Fusion& fusion : fusions) {
    if (fusion.kernel == kernel && fusion.ops == ops) {
      ++fusion.count;
      return;
    }
  }
  fusions.push_back({std::move(ops), std::string(kernel), 1});
}

// Kernels of several operators on the fused side, each with those of its operators on the other.
std::vector<Fusion> find_fusions(const WorkSide& parts_side, std::vector<WorkItem>& parts,
                                 const WorkSide& fused_side, std::vector<WorkItem>& fused) {
  std::vector<Fusion> fusions;
  std::vector<WorkItem> rest;
  for (WorkItem& kernel : fused) {
    const std::vector<std::string>& ops = name_of(fused_side, kernel).ops;
    std::vector<std::string> found;
    for (const std::string& op : ops) {
      const auto runs = [&](const WorkItem& item) { return runs_op(parts_side, item, op); };
      if (ops.size() > 1 && take(parts, runs)) found.push_back(op);
    }
    if (found.empty()) {
      rest.push_back(std::move(kernel));
    } else {
      add_fusion(fusions, std::move(found), kernel.name);
    }
  }
  fused = std::move(rest);
  return fusions;
}

// Further kernels of the operators that were fused: `mul` twice in one fused kernel.
void absorb(const WorkSide& side, std::vector<WorkItem>& parts,
            const std::vector<Fusion>& fusions) {
  for (const Fusion& fusion : fusions) {
    for (const std::string& op : fusion.ops) {
      const auto runs = [&](const WorkItem& item) { return runs_op(side, item, op); };
      while (take(parts, runs)) {
      }
    }
  }
}

void find_resized(std::vector<WorkItem>& a, std::vector<WorkItem>& b, GroupComparison& group) {
  std::vector<WorkItem> rest;
  for (WorkItem& item : a) {
    const auto same_name = [&](const WorkItem& other) { return other.name == item.name; };
    if (take(b, same_name)) {
      count(group.resized, item.name);
    } else {
      rest.push_back(std::move(item));
    }
  }
  a = std::move(rest);
}

void find_changed(const WorkSide& a_side, std::vector<WorkItem>& a, const WorkSide& b_side,
                  std::vector<WorkItem>& b, GroupComparison& group) {
  std::vector<WorkItem> rest;
  for (WorkItem& item : a) {
    const auto same_op = [&](const WorkItem& other) {
      return !item.op.empty() && plain_op(item.op) == plain_op(other.op) && item.bytes < 0 &&
             other.bytes < 0;
    };
    WorkItem other;
    if (!take(b, same_op, &other)) {
      rest.push_back(std::move(item));
      continue;
    }
    const auto known =
        std::find_if(group.changed.begin(), group.changed.end(), [&](const ChangedKernel& change) {
          return change.op == item.op && change.from == item.name && change.to == other.name;
        });
    if (known != group.changed.end()) {
      ++known->count;
      continue;
    }
    group.changed.push_back({std::string(item.op), std::string(item.name), std::string(other.name),
                             differing_fields(name_of(a_side, item), name_of(b_side, other)), 1});
  }
  a = std::move(rest);
}

}  // namespace

std::vector<std::string> differing_fields(const KernelName& a, const KernelName& b) {
  std::vector<std::string> fields;
  const auto compare = [&](const char* name, const auto& left, const auto& right) {
    if (left != right) fields.emplace_back(name);
  };
  compare("library", a.library, b.library);
  compare("kind", a.kind, b.kind);
  compare("arch", a.arch, b.arch);
  compare("dtype", a.dtype, b.dtype);
  compare("accumulate", a.accumulate, b.accumulate);
  compare("output", a.output, b.output);
  compare("layout", a.layout, b.layout);
  compare("tile", a.tile, b.tile);
  compare("stages", a.stages, b.stages);
  compare("cluster", a.cluster, b.cluster);
  compare("epilogue", a.epilogue, b.epilogue);
  compare("split_k", a.split_k, b.split_k);
  compare("tensor_cores", a.tensor_cores, b.tensor_cores);
  compare("alignment", a.alignment, b.alignment);
  compare("vector_width", a.vector_width, b.vector_width);
  compare("ops", a.ops, b.ops);
  return fields;
}

WorkDifference match_work(const std::vector<WorkItem>& a, const std::vector<WorkItem>& b) {
  using Key = std::tuple<std::string_view, std::array<int64_t, 3>, std::array<int64_t, 3>, int64_t>;
  const auto key = [](const WorkItem& item) {
    return Key(item.name, item.grid, item.block, item.bytes);
  };
  std::map<Key, std::deque<size_t>> candidates;
  for (size_t i = 0; i < b.size(); ++i) candidates[key(b[i])].push_back(i);
  WorkDifference result;
  std::vector<bool> a_matched(a.size());
  std::vector<bool> b_matched(b.size());
  // Those that agree in sizes first, so that an unknown size does not take a known one's partner.
  for (const bool exactly : {true, false}) {
    for (size_t i = 0; i < a.size(); ++i) {
      const auto list = candidates.find(key(a[i]));
      if (a_matched[i] || list == candidates.end()) continue;
      const auto fits = [&](size_t j) {
        return !b_matched[j] && (exactly ? a[i].size == b[j].size : a[i].is_same_as(b[j]));
      };
      const auto partner = std::find_if(list->second.begin(), list->second.end(), fits);
      if (partner == list->second.end()) continue;
      a_matched[i] = b_matched[*partner] = true;
      list->second.erase(partner);
    }
  }
  for (size_t i = 0; i < a.size(); ++i) {
    a_matched[i] ? count(result.same, a[i].name) : result.only_a.push_back(a[i]);
  }
  for (size_t i = 0; i < b.size(); ++i) {
    if (!b_matched[i]) result.only_b.push_back(b[i]);
  }
  return result;
}

void compare_kernels(const WorkSide& a, const WorkSide& b, GroupComparison& group) {
  WorkDifference rest = match_work(a.work, b.work);
  group.same = std::move(rest.same);
  find_resized(rest.only_a, rest.only_b, group);
  group.fused = find_fusions(a, rest.only_a, b, rest.only_b);
  absorb(a, rest.only_a, group.fused);
  group.unfused = find_fusions(b, rest.only_b, a, rest.only_a);
  absorb(b, rest.only_b, group.unfused);
  find_changed(a, rest.only_a, b, rest.only_b, group);
  for (const WorkItem& item : rest.only_a) count(group.gone, item.name);
  for (const WorkItem& item : rest.only_b) count(group.added, item.name);
}

}  // namespace epi::analysis
