// SPDX-License-Identifier: Apache-2.0
// The verdict of a comparison: one or two sentences.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "epilogue/analysis/index/op_inputs.h"
#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/join.h"
#include "epilogue/report/compare/compare_report.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

using analysis::GroupComparison;
using analysis::Kind;
using analysis::NamedCount;

// Times that differ by at most this share count as equal, because machines are noisy.
constexpr double kEqualWithin = 0.01;
constexpr size_t kShownFusions = 3;  // the others are only counted
constexpr size_t kNameWidth = 60;

// "GPU time 234.3 us -> 204.3 us (-13 %)"
std::string change_text(const char* what, double a, double b) {
  if (a == b || std::abs(b - a) <= kEqualWithin * std::max(a, b)) {
    return fmt::format("{} is the same ({})", what, time_text(b));
  }
  const std::string percent = a == 0 ? "" : fmt::format(" ({:+.0f} %)", 100 * (b - a) / a);
  return fmt::format("{} {} -> {}{}", what, time_text(a), time_text(b), percent);
}

// Where kernels overlap, their summed time may grow while the GPU is busy for less time.
std::string device_change(const GroupComparison& group, bool cpu_kernels) {
  const auto& a = group.a.median;
  const auto& b = group.b.median;
  if (!group.overlaps()) {
    return change_text(cpu_kernels ? "kernel time" : "GPU time", a.gpu_ns, b.gpu_ns);
  }
  return change_text(cpu_kernels ? "kernel busy time" : "GPU busy time", a.busy_ns, b.busy_ns);
}

int64_t total(const std::vector<NamedCount>& list) {
  int64_t sum = 0;
  for (const NamedCount& entry : list) sum += entry.count;
  return sum;
}

// "3 GEMMs" if all kernels are GEMMs, "4 kernels" otherwise. Copies and memsets are not counted
// unless there are no kernels.
std::string kernels_phrase(const std::vector<NamedCount>& list) {
  int64_t gemms = 0;
  int64_t others = 0;
  for (const NamedCount& entry : list) {
    if (!entry.is_kernel) continue;
    const Kind kind = analysis::decode_name(entry.name).kind;
    (analysis::is_gemm(kind) ? gemms : others) += entry.count;
  }
  if (gemms > 0 && others == 0) return plural(static_cast<double>(gemms), "GEMM");
  if (gemms + others > 0) return plural(static_cast<double>(gemms + others), "kernel");
  return total(list) == 1 ? "1 copy or memset" : fmt::format("{} copies and memsets", total(list));
}

// A phrase if only one of the traces has view operators.
std::string views_phrase(const GroupComparison& group) {
  const auto any_view = [](const std::vector<analysis::HostChange>& changes) {
    return std::any_of(changes.begin(), changes.end(),
                       [](const auto& change) { return analysis::is_view_op(change.name); });
  };
  // A trace without any ATen operator did not record them.
  const auto any_op = [](const std::vector<analysis::HostChange>& changes) {
    return std::any_of(changes.begin(), changes.end(),
                       [](const auto& change) { return change.name.starts_with("aten::"); });
  };
  const bool common = any_op(group.host_same) || any_op(group.host_changed);
  if (!common && !(any_op(group.host_gone) && any_op(group.host_added))) return {};
  if (any_view(group.host_same) || any_view(group.host_changed)) return {};
  if (any_view(group.host_gone) && !any_view(group.host_added)) return "the view ops are gone";
  if (any_view(group.host_added) && !any_view(group.host_gone)) return "view ops are new";
  return {};
}

std::string bytes_phrase(const GroupComparison& group) {
  const auto& a = group.a.bytes;
  const auto& b = group.b.bytes;
  if (!a || !b || std::abs(a->bytes - b->bytes) <= kEqualWithin * std::max(a->bytes, b->bytes)) {
    return {};
  }
  const auto text = [](const analysis::MovedBytes& moved) {
    return fmt::format("{}{}", moved.at_least ? "at least " : "", bytes_text(moved.bytes));
  };
  return fmt::format("memory traffic {} -> {}", text(*a), text(*b));
}

std::string work_phrase(const GroupComparison& group) {
  std::vector<std::string> parts;
  const auto are = [](const std::string& phrase) {
    return phrase.starts_with("1 ") ? phrase + " is" : phrase + " are";
  };
  if (!group.same.empty()) parts.push_back(are(kernels_phrase(group.same)) + " the same");
  for (size_t i = 0; i < std::min(group.fused.size(), kShownFusions); ++i) {
    const auto& fusion = group.fused[i];
    const int64_t replaced = fusion.replaced / fusion.count;
    const std::string count = replaced == static_cast<int64_t>(fusion.ops.size())
                                  ? ""
                                  : fmt::format(" ({} kernels)", replaced);
    parts.push_back(fmt::format("{}{} became {}", join(fusion.ops, " and "), count,
                                shortened(fusion.kernel, kNameWidth)));
  }
  if (group.fused.size() > kShownFusions) {
    parts.push_back(fmt::format("{} more fusions", group.fused.size() - kShownFusions));
  }
  for (size_t i = 0; i < std::min(group.unfused.size(), kShownFusions); ++i) {
    const auto& fusion = group.unfused[i];
    parts.push_back(fmt::format("{} was split into {}", shortened(fusion.kernel, kNameWidth),
                                join(fusion.ops, " and ")));
  }
  if (!group.resized.empty()) {
    parts.push_back(are(kernels_phrase(group.resized)) + " the same code for another size");
  }
  int64_t changed = 0;
  for (const auto& change : group.changed) changed += change.count;
  if (changed > 0)
    parts.push_back(plural(static_cast<double>(changed), "op") +
                    (changed == 1 ? " runs another kernel" : " run other kernels"));
  if (!group.gone.empty()) parts.push_back(are(kernels_phrase(group.gone)) + " gone");
  if (!group.added.empty()) parts.push_back(are(kernels_phrase(group.added)) + " new");
  return join(parts, "; ");
}

bool has_no_work(const GroupComparison& group) {
  return group.same.empty() && group.same_gpu_work();
}

// "CONDITIONAL, the file of A is cut: "
std::string condition_text(const analysis::Comparison& comparison) {
  if (!comparison.a_is_cut && !comparison.b_is_cut) return "";
  const bool both = comparison.a_is_cut && comparison.b_is_cut;
  return fmt::format("CONDITIONAL, {} cut: ", both                  ? "both files are"
                                              : comparison.a_is_cut ? "the file of A is"
                                                                    : "the file of B is");
}

// The verdict without times and bytes.
std::string work_verdict(const analysis::Comparison& comparison) {
  const GroupComparison& group = comparison.groups[comparison.main_group];
  const char* work = comparison.cpu_kernels ? "kernels" : "GPU work";
  std::string out;
  const auto has_work = [](const analysis::Side& side) {
    return static_cast<double>(side.median.kernels_max) + side.median.memcpys +
               side.median.memsets >
           0;
  };
  if (has_no_work(group)) {
    out = fmt::format("No {} on either side", work);
  } else if (!has_work(group.a) || !has_work(group.b)) {
    out = fmt::format("Not comparable: {} has no kernels, {} has some",
                      has_work(group.a) ? "B" : "A", has_work(group.a) ? "A" : "B");
  } else if (group.same_gpu_work() && group.a.median.kernels != group.b.median.kernels) {
    out = fmt::format(
        "Same kernels, but not in every instance: a median of {:g} per instance in A "
        "and {:g} in B",
        group.a.median.kernels, group.b.median.kernels);
  } else if (group.same_gpu_work() && comparison.same_gpu_work()) {
    out = fmt::format("Same {}: {}", work, kernels_phrase(group.same));
  } else if (group.same_gpu_work()) {
    out = fmt::format("Same {} in {}, different elsewhere", work, group.name);
  } else {
    out = fmt::format("Different {}: {}", work, work_phrase(group));
  }
  const std::string views = views_phrase(group);
  return views.empty() ? out : out + "; " + views;
}

}  // namespace

std::string devices_text(const std::string& a, const std::string& b) {
  if (a == b || a.empty() || b.empty()) return "";
  return fmt::format(" The GPUs differ: A ran on {}, B on {}.", shortened(a, 40), shortened(b, 40));
}

std::string verdict_text(const analysis::Comparison& comparison) {
  const GroupComparison& group = comparison.groups[comparison.main_group];
  const auto& a = group.a.median;
  const auto& b = group.b.median;
  const bool empty = has_no_work(group) || a.gpu_ns == 0 || b.gpu_ns == 0;
  std::vector<std::string> changes;
  if (!empty) {
    changes.push_back(device_change(group, comparison.cpu_kernels));
  }
  changes.push_back(change_text("CPU time", a.cpu_ns, b.cpu_ns));
  const std::string bytes = bytes_phrase(group);
  if (!bytes.empty()) changes.push_back(bytes);
  // A sentence starts with a capital letter.
  if (changes[0].starts_with("kernel")) changes[0][0] = 'K';
  return condition_text(comparison) + work_verdict(comparison) + ". " + join(changes, ", ") + "." +
         devices_text(comparison.a_device, comparison.b_device);
}

std::string work_verdict_text(const analysis::Comparison& comparison) {
  std::string bytes = bytes_phrase(comparison.groups[comparison.main_group]);
  if (!bytes.empty()) bytes = " M" + bytes.substr(1) + ".";
  return condition_text(comparison) + work_verdict(comparison) + "." + bytes;
}

}  // namespace epi::report
