// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/work_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/cost/op_cost.h"
#include "epilogue/analysis/time/bound.h"

namespace epi::analysis {

WorkClass work_class(Kind kind) {
  switch (kind) {
    case Kind::kGemm:
    case Kind::kGemv:
    case Kind::kSplitKReduce:
    case Kind::kEpilogue:
      return WorkClass::kGemm;
    case Kind::kPointwise:
      return WorkClass::kPointwise;
    case Kind::kReduction:
      return WorkClass::kReduction;
    case Kind::kSoftmax:
      return WorkClass::kSoftmax;
    case Kind::kNorm:
      return WorkClass::kNorm;
    case Kind::kAttention:
      return WorkClass::kAttention;
    case Kind::kConv:
      return WorkClass::kConvolution;
    case Kind::kOptimizer:
      return WorkClass::kOptimizer;
    case Kind::kComm:
      return WorkClass::kCommunication;
    case Kind::kCopy:
    case Kind::kMemcpy:
    case Kind::kMemset:
      return WorkClass::kDeviceCopies;
    case Kind::kGather:
    case Kind::kSort:
    case Kind::kRandom:
      return WorkClass::kIndexing;
    case Kind::kUnknown:
      return WorkClass::kOther;
  }
  return WorkClass::kOther;
}

namespace {

using trace::EventId;
using trace::kNoEvent;

bool has_flops(WorkClass what) {
  return what == WorkClass::kGemm || what == WorkClass::kConvolution ||
         what == WorkClass::kAttention || what == WorkClass::kUnfusedAttention;
}

// "aten::gelu" becomes "gelu".
std::string short_op(std::string_view name) {
  const size_t colons = name.rfind("::");
  return std::string(colons == std::string_view::npos ? name : name.substr(colons + 2));
}

bool is_batched_gemm(const TraceIndex& index, EventId id) {
  const EventId op = index.links.op[id];
  const Kind kind = index.names[index.trace.name[id]].kind;
  if (kind != Kind::kGemm || op == kNoEvent) return false;
  const std::string_view name = index.trace.name_of(op);
  return name == "aten::bmm" || name == "aten::baddbmm";
}

class Grouper {
 public:
  Grouper(const TraceIndex& index, const std::optional<GpuPeaks>& peaks)
      : index_(index), peaks_(peaks) {}

  WorkGroups of(std::span<const EventId> work, size_t most) {
    for (const auto& one : unfused_attention(index_, work)) {
      attention_.insert(one.begin(), one.end());
    }
    WorkGroups result;
    result.all_flops_known = true;
    for (const EventId id : work) add(id, result);
    if (result.flops == 0) result.all_flops_known = false;
    result.most_flops_known = result.flops > 0 && known_ns_ >= unknown_ns_;
    std::vector<Sum> sums;
    for (auto& [key, sum] : sums_) sums.push_back(std::move(sum));
    fold(sums, most);
    for (size_t i = 0; i < sums.size(); ++i) {
      if (i < most) {
        result.groups.push_back(finished(sums[i]));
        WorkGroup& group = result.groups.back();
        group.share =
            result.ns <= 0 ? 0 : static_cast<double>(group.ns) / static_cast<double>(result.ns);
      } else {
        result.rest_calls += sums[i].group.calls;
        result.rest_ns += sums[i].group.ns;
      }
    }
    return result;
  }

 private:
  struct Sum {
    WorkGroup group;
    double arithmetic_share_ns = 0;  // share of the peak times nanoseconds
    double arithmetic_ns = 0;
    double bandwidth_share_ns = 0;
    double bandwidth_ns = 0;
    double bytes = 0;

    void add(const Sum& other) {
      group.calls += other.group.calls;
      group.ns += other.group.ns;
      group.kinds += other.group.kinds;
      arithmetic_share_ns += other.arithmetic_share_ns;
      arithmetic_ns += other.arithmetic_ns;
      bandwidth_share_ns += other.bandwidth_share_ns;
      bandwidth_ns += other.bandwidth_ns;
      bytes += other.bytes;
    }
  };

  Kind kind(EventId id) const { return index_.names[index_.trace.name[id]].kind; }

  std::pair<WorkClass, std::string> name_of(EventId id) const {
    if (attention_.contains(id)) return {WorkClass::kUnfusedAttention, ""};
    if (typical_bound_of_work(index_, id) == Bound::kCopies) {
      return {WorkClass::kHostCopies, std::string(index_.trace.name_of(id))};
    }
    const WorkClass what = work_class(kind(id));
    const EventId op = index_.links.op[id];
    if (what == WorkClass::kGemm && op != kNoEvent) {
      const auto sizes = gemm_shape(index_.trace, op, id);
      if (!sizes) return {what, ""};
      const NumberType type = index_.names[index_.trace.name[id]].dtype;
      const std::string_view type_text =
          type == NumberType::kUnknown ? std::string_view() : text_of(type);
      return {what, fmt::format("{}{}{}", sizes->text(), type_text.empty() ? "" : " ", type_text)};
    }
    const bool by_op = what == WorkClass::kPointwise || what == WorkClass::kReduction;
    const bool is_op = op != kNoEvent && index_.trace.category[op] == trace::Category::kCpuOp;
    return {what, by_op && is_op ? short_op(index_.trace.name_of(op)) : ""};
  }

  void add(EventId id, WorkGroups& result) {
    const auto [what, about] = name_of(id);
    const int64_t ns = index_.trace.dur_ns[id];
    Sum& sum = sums_[{what, about}];
    sum.group.what = what;
    sum.group.about = about;
    ++sum.group.calls;
    sum.group.ns += ns;
    result.ns += ns;
    if (index_.trace.category[id] != trace::Category::kKernel) return;
    const KernelRate rate = kernel_rate(index_, id, peaks_);
    const auto took = static_cast<double>(ns);
    if (rate.of_peak_flops) {
      sum.arithmetic_share_ns += *rate.of_peak_flops * took;
      sum.arithmetic_ns += took;
    }
    if (rate.of_peak_bandwidth) {
      sum.bandwidth_share_ns += *rate.of_peak_bandwidth * took;
      sum.bandwidth_ns += took;
      sum.bytes += rate.bytes.value_or(0);
    }
    const Kind of = kind(id);
    const bool counts =
        of == Kind::kGemm || of == Kind::kGemv || of == Kind::kConv || of == Kind::kAttention;
    if (!counts) return;
    if (rate.flops && rate.of_peak_flops) {
      result.flops += *rate.flops;
      result.peak_ns += *rate.of_peak_flops * took;
      known_ns_ += took;
    } else if (has_flops(what)) {
      result.all_flops_known = false;
      unknown_ns_ += took;
    }
  }

  // Merges the class with the most groups into one until there are at most `most` groups.
  static void fold(std::vector<Sum>& sums, size_t most) {
    const auto by_time = [](const Sum& a, const Sum& b) { return a.group.ns > b.group.ns; };
    std::stable_sort(sums.begin(), sums.end(), by_time);
    while (sums.size() > most) {
      std::map<WorkClass, size_t> counts;
      for (const Sum& sum : sums) ++counts[sum.group.what];
      const auto largest =
          std::max_element(counts.begin(), counts.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (largest->second < 2) return;
      Sum folded;
      folded.group.what = largest->first;
      folded.group.kinds = 0;
      for (const Sum& sum : sums) {
        if (sum.group.what == largest->first) folded.add(sum);
      }
      std::erase_if(sums, [&](const Sum& sum) { return sum.group.what == largest->first; });
      sums.push_back(std::move(folded));
      std::stable_sort(sums.begin(), sums.end(), by_time);
    }
  }

  static WorkGroup finished(Sum& sum) {
    const double half = static_cast<double>(sum.group.ns) / 2;
    if (sum.arithmetic_ns > half) {
      sum.group.of_peak_flops = sum.arithmetic_share_ns / sum.arithmetic_ns;
    }
    if (sum.bandwidth_ns > half) {
      sum.group.of_peak_bandwidth = sum.bandwidth_share_ns / sum.bandwidth_ns;
      sum.group.bytes_per_ns = sum.bytes / sum.bandwidth_ns;
    }
    return std::move(sum.group);
  }

  const TraceIndex& index_;
  const std::optional<GpuPeaks>& peaks_;
  std::set<EventId> attention_;
  std::map<std::pair<WorkClass, std::string>, Sum> sums_;
  double known_ns_ = 0;    // time of kernels whose FLOPs are known
  double unknown_ns_ = 0;  // time of GEMMs, convolutions and attention without
};

}  // namespace

std::vector<std::span<const EventId>> unfused_attention(const TraceIndex& index,
                                                        std::span<const EventId> work) {
  constexpr size_t kMaxDistance = 5;
  std::vector<std::span<const EventId>> found;
  for (size_t i = 0; i < work.size(); ++i) {
    if (index.names[index.trace.name[work[i]]].kind != Kind::kSoftmax) continue;
    size_t first = i;
    while (first > 0 && i - first < kMaxDistance && !is_batched_gemm(index, work[first])) --first;
    size_t last = i;
    while (last + 1 < work.size() && last - i < kMaxDistance &&
           !is_batched_gemm(index, work[last])) {
      ++last;
    }
    if (!is_batched_gemm(index, work[first]) || !is_batched_gemm(index, work[last])) continue;
    found.push_back(work.subspan(first, last - first + 1));
  }
  return found;
}

WorkGroups work_groups(const TraceIndex& index, std::span<const EventId> work,
                       const std::optional<GpuPeaks>& peaks, size_t most) {
  return Grouper(index, peaks).of(work, most);
}

}  // namespace epi::analysis
