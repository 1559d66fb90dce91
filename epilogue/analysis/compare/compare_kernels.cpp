// SPDX-License-Identifier: Apache-2.0
// The order of the passes matters: identical work first, then resized kernels, then GEMMs with
// another kernel, then kernels that fuse the same operators, then fusions, then other operators
// with another kernel. Every piece of work ends up in exactly one list.
#include "epilogue/analysis/compare/compare_kernels.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "epilogue/analysis/index/op_inputs.h"
#include "epilogue/base/join.h"

namespace epi::analysis {
namespace {

// A fused kernel's name lists each operator once, however often the kernel applies it. Up to this
// many kernels of one operator may therefore be part of it.
constexpr int kMaxKernelsPerOp = 3;

// Work that no pass has matched yet, looked up by a key.
class Pool {
 public:
  explicit Pool(std::vector<WorkItem> items) : items_(std::move(items)), taken_(items_.size()) {}

  size_t size() const { return items_.size(); }
  bool is_taken(size_t i) const { return taken_[i]; }
  const WorkItem& operator[](size_t i) const { return items_[i]; }
  void take(size_t i) { taken_[i] = true; }

  // The indices that are left, grouped by `key`. Items with an empty key are skipped.
  template <typename Key>
  std::map<std::string, std::deque<size_t>> by(Key&& key) const {
    std::map<std::string, std::deque<size_t>> places;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (taken_[i]) continue;
      std::string text = key(items_[i]);
      if (!text.empty()) places[std::move(text)].push_back(i);
    }
    return places;
  }

 private:
  std::vector<WorkItem> items_;
  std::vector<bool> taken_;
};

struct PoolSide {
  const TraceIndex& index;
  Pool pool;

  const DecodedName& name(const WorkItem& item) const {
    return index.names[index.trace.name[item.event]];
  }
};

bool is_copy_or_set(Kind kind) { return kind == Kind::kMemcpy || kind == Kind::kMemset; }

// Removes pairs with equal keys from both pools and passes each pair to `pair`.
template <typename Key, typename Pair>
void match_by(PoolSide& a, PoolSide& b, Key&& key, Pair&& pair) {
  auto partners = b.pool.by([&](const WorkItem& item) { return key(b, item); });
  for (size_t i = 0; i < a.pool.size(); ++i) {
    if (a.pool.is_taken(i)) continue;
    const auto list = partners.find(key(a, a.pool[i]));
    if (list == partners.end() || list->second.empty()) continue;
    const size_t partner = list->second.front();
    list->second.pop_front();
    pair(a.pool[i], b.pool[partner]);
    a.pool.take(i);
    b.pool.take(partner);
  }
}

void add_changed(const PoolSide& a, const WorkItem& from, const PoolSide& b, const WorkItem& to,
                 std::string_view op, GroupComparison& group) {
  for (ChangedKernel& change : group.changed) {
    if ((change.op == op || op.empty()) && change.from == from.name && change.to == to.name) {
      ++change.count;
      return;
    }
  }
  group.changed.push_back({std::string(op.empty() ? "no operator" : op), std::string(from.name),
                           std::string(to.name), differing_fields(a.name(from), b.name(to)), 1});
}

// True if a kernel of kind `part` can be fused into one of kind `fused`. GEMMs can only become part
// of a GEMM template.
bool can_fuse_into(Kind part, Kind fused) {
  if (is_generated_kind(part) || part == Kind::kUnknown) return true;
  return is_gemm(part) && is_gemm(fused);
}

// The operator of a piece of work: the launching operator, or the only operator in the kernel's
// name.
std::string op_of(const PoolSide& side, const WorkItem& item) {
  const auto& ops = side.name(item).ops;
  const std::string launcher(plain_op(item.op));
  return item.op.starts_with("aten::") || ops.size() != 1 ? launcher : ops.front();
}

void find_changed(PoolSide& a, PoolSide& b, GroupComparison& group) {
  const auto op = [](const PoolSide& side, const WorkItem& item) {
    return is_copy_or_set(side.name(item).kind) ? std::string() : op_of(side, item);
  };
  match_by(a, b, op, [&](const WorkItem& from, const WorkItem& to) {
    add_changed(a, from, b, to, from.op.empty() ? to.op : from.op, group);
  });
}

using PlacesByOp = std::map<std::string, std::deque<size_t>>;

PlacesByOp places_by_op(const PoolSide& side) {
  return side.pool.by([&](const WorkItem& item) { return op_of(side, item); });
}

bool has_any(const PlacesByOp& by_op, const std::string& op) {
  const auto list = by_op.find(op);
  return list != by_op.end() && !list->second.empty();
}

// Unused work by the operator that launched it, then by the operator that called that one.
class OpPlaces {
 public:
  explicit OpPlaces(const PoolSide& side)
      : by_op_(places_by_op(side)), by_outer_(side.pool.by([](const WorkItem& item) {
          return std::string(plain_op(item.outer_op));
        })) {}

  const PlacesByOp& by_op() const { return by_op_; }
  std::optional<size_t> next(const std::string& op) {
    for (PlacesByOp* places : {&by_op_, &by_outer_}) {
      const auto list = places->find(op);
      if (list == places->end()) continue;
      auto& left = list->second;
      while (!left.empty() && used_.contains(left.front())) left.pop_front();
      if (!left.empty()) return left.front();
    }
    return std::nullopt;
  }
  void use(size_t place) { used_.insert(place); }

 private:
  PlacesByOp by_op_;
  PlacesByOp by_outer_;
  std::set<size_t> used_;
};

// The operators that a kernel may fuse: those in its name, or the GEMM and the addition of an
// `addmm` if the other side has both and no `addmm`.
std::vector<std::string> fused_ops(const PoolSide& side, const WorkItem& item,
                                   const PlacesByOp& others) {
  const auto& ops = side.name(item).ops;
  if (ops.size() > 1) return ops;
  const bool is_split_addmm = op_of(side, item) == "addmm" && !has_any(others, "addmm") &&
                              has_any(others, "mm") && has_any(others, "add");
  return is_split_addmm ? std::vector<std::string>{"add", "mm"} : std::vector<std::string>{};
}

// Matches GEMMs of the same sizes, whatever operator launched them. Fused templates are excluded.
void find_changed_gemms(PoolSide& a, PoolSide& b, GroupComparison& group) {
  const PlacesByOp in_a = places_by_op(a);
  const PlacesByOp in_b = places_by_op(b);
  const auto sizes = [&](const PoolSide& side, const WorkItem& item) {
    const bool plain =
        is_gemm(side.name(item).kind) && fused_ops(side, item, &side == &a ? in_b : in_a).empty();
    return plain && !item.size.empty() && item.size.front() != '[' ? item.size : std::string();
  };
  match_by(a, b, sizes, [&](const WorkItem& from, const WorkItem& to) {
    add_changed(a, from, b, to, from.op, group);
  });
}

// Matches kernels of two compilers, or of a compiler and a package, that fuse the same operators.
void find_changed_fusions(PoolSide& a, PoolSide& b, GroupComparison& group) {
  const auto computed = [](const PoolSide& side, const WorkItem& item) {
    std::set<std::string> ops;
    for (const std::string& op : side.name(item).ops) {
      if (!is_view_op("aten::" + op)) ops.insert(op);
    }
    return ops.size() < 2 ? std::string() : join(ops, ", ");
  };
  match_by(a, b, computed, [&](const WorkItem& from, const WorkItem& to) {
    add_changed(a, from, b, to, computed(a, from), group);
  });
}

struct FusedKernel {
  size_t place = 0;
  std::vector<std::string> candidates;  // operators that it may fuse
  std::vector<std::string> ops{};       // those of `candidates` that the other side has
  std::vector<size_t> parts{};
};

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// A fused kernel becomes part of a larger one that has all of its operators. Each is part of only
// one.
void add_smaller_fusions(const PoolSide& parts, std::vector<FusedKernel>& kernels) {
  for (size_t i = 0; i < parts.pool.size(); ++i) {
    const auto& ops = parts.name(parts.pool[i]).ops;
    if (parts.pool.is_taken(i) || ops.size() < 2) continue;
    const auto is_larger = [&](const FusedKernel& kernel) {
      const auto has = [&](const std::string& op) { return contains(kernel.candidates, op); };
      return ops.size() < kernel.candidates.size() && std::all_of(ops.begin(), ops.end(), has);
    };
    const auto larger = std::find_if(kernels.begin(), kernels.end(), is_larger);
    if (larger == kernels.end()) continue;
    larger->parts.push_back(i);
    for (const std::string& op : ops) {
      if (!contains(larger->ops, op) && !is_view_op("aten::" + op)) larger->ops.push_back(op);
    }
  }
}

// The number of GEMMs that can be part of a fusion: those in `parts` beyond the stand-alone GEMMs
// in `fused`. The rest only changed their kernel.
int64_t fusible_gemms(const PoolSide& parts, const PoolSide& fused,
                      const std::vector<FusedKernel>& kernels) {
  int64_t count = 0;
  for (size_t i = 0; i < parts.pool.size(); ++i) {
    count += !parts.pool.is_taken(i) && is_gemm(parts.name(parts.pool[i]).kind);
  }
  for (size_t i = 0; i < fused.pool.size(); ++i) {
    const bool is_fused = std::any_of(kernels.begin(), kernels.end(),
                                      [&](const FusedKernel& kernel) { return kernel.place == i; });
    count -= !fused.pool.is_taken(i) && !is_fused && is_gemm(fused.name(fused.pool[i]).kind);
  }
  return count;
}

// Assigns the other side's work to each kernel that fuses several operators. One piece per operator
// and round, so that similar kernels get similar parts.
std::vector<FusedKernel> assign_parts(PoolSide& parts, const PoolSide& fused) {
  OpPlaces places(parts);
  std::vector<FusedKernel> kernels;
  for (size_t i = 0; i < fused.pool.size(); ++i) {
    if (fused.pool.is_taken(i)) continue;
    auto ops = fused_ops(fused, fused.pool[i], places.by_op());
    if (!ops.empty()) kernels.push_back({i, std::move(ops)});
  }
  int64_t gemms = fusible_gemms(parts, fused, kernels);
  for (int round = 0; round < kMaxKernelsPerOp; ++round) {
    for (FusedKernel& kernel : kernels) {
      for (const std::string& op : kernel.candidates) {
        const auto place = places.next(op);
        if (!place) continue;
        const Kind kind = parts.name(parts.pool[*place]).kind;
        if (!can_fuse_into(kind, fused.name(fused.pool[kernel.place]).kind)) continue;
        if (is_gemm(kind) && gemms-- <= 0) continue;
        kernel.parts.push_back(*place);
        places.use(*place);
        if (round == 0) kernel.ops.push_back(op);
      }
    }
  }
  add_smaller_fusions(parts, kernels);
  return kernels;
}

void add_fusion(std::vector<Fusion>& fusions, const FusedKernel& kernel, std::string_view name) {
  const auto replaced = static_cast<int64_t>(kernel.parts.size());
  for (Fusion& fusion : fusions) {
    if (fusion.kernel == name && fusion.ops == kernel.ops) {
      ++fusion.count;
      fusion.replaced += replaced;
      return;
    }
  }
  fusions.push_back({kernel.ops, std::string(name), 1, replaced});
}

// Calls `changed` for a kernel that replaces a single one.
template <typename Changed>
std::vector<Fusion> find_fusions(PoolSide& parts, PoolSide& fused, Changed&& changed) {
  std::vector<Fusion> fusions;
  for (const FusedKernel& kernel : assign_parts(parts, fused)) {
    if (kernel.parts.empty()) continue;
    const WorkItem& item = fused.pool[kernel.place];
    fused.pool.take(kernel.place);
    for (const size_t part : kernel.parts) parts.pool.take(part);
    if (kernel.parts.size() == 1) {
      changed(parts.pool[kernel.parts[0]], item);
    } else {
      add_fusion(fusions, kernel, item.name);
    }
  }
  return fusions;
}

}  // namespace

std::vector<std::string> differing_fields(const DecodedName& a, const DecodedName& b) {
  std::vector<std::string> fields;
  // A field that one of the names does not give is not a difference.
  const auto compare = [&](const char* name, const auto& left, const auto& right) {
    const std::decay_t<decltype(left)> unknown{};
    if (left != right && left != unknown && right != unknown) fields.emplace_back(name);
  };
  const auto compare_lists = [&](const char* name, const auto& left, const auto& right) {
    if (left != right) fields.emplace_back(name);
  };
  compare("library", library_text(a), library_text(b));
  compare("kind", a.kind, b.kind);
  compare("arch", a.arch, b.arch);
  compare("dtype", a.dtype, b.dtype);
  compare("accumulate", a.accumulate, b.accumulate);
  compare("output", a.output, b.output);
  compare("layout", a.layout, b.layout);
  compare("tile", a.tile, b.tile);
  compare("stages", a.stages, b.stages);
  compare("cluster", a.cluster, b.cluster);
  compare_lists("epilogue", a.epilogue, b.epilogue);
  compare("split_k", a.split_k, b.split_k);
  compare("tensor_cores", a.tensor_cores, b.tensor_cores);
  compare("alignment", a.alignment, b.alignment);
  compare("vector_width", a.vector_width, b.vector_width);
  compare_lists("ops", a.ops, b.ops);
  return fields;
}

void compare_kernels(const WorkSide& a_side, const WorkSide& b_side, GroupComparison& group) {
  WorkDifference rest = match_work(a_side.work, b_side.work);
  group.same = std::move(rest.same);
  PoolSide a{a_side.index, Pool(std::move(rest.only_a))};
  PoolSide b{b_side.index, Pool(std::move(rest.only_b))};
  Counts resized(group.resized);
  match_by(
      a, b, [](const PoolSide&, const WorkItem& item) { return std::string(item.name); },
      [&](const WorkItem& item, const WorkItem&) { resized.add(item); });
  find_changed_gemms(a, b, group);
  find_changed_fusions(a, b, group);
  group.fused = find_fusions(a, b, [&](const WorkItem& part, const WorkItem& kernel) {
    add_changed(a, part, b, kernel, part.op, group);
  });
  group.unfused = find_fusions(b, a, [&](const WorkItem& part, const WorkItem& kernel) {
    add_changed(a, kernel, b, part, part.op, group);
  });
  find_changed(a, b, group);
  Counts gone(group.gone);
  for (size_t i = 0; i < a.pool.size(); ++i) {
    if (!a.pool.is_taken(i)) gone.add(a.pool[i]);
  }
  Counts added(group.added);
  for (size_t i = 0; i < b.pool.size(); ++i) {
    if (!b.pool.is_taken(i)) added.add(b.pool[i]);
  }
}

}  // namespace epi::analysis
