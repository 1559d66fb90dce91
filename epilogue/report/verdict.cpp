// SPDX-License-Identifier: Apache-2.0
// The sentence that a comparison begins with.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "epilogue/report/compare_report.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/units.h"

namespace epi::report {
namespace {

using analysis::GroupComparison;
using analysis::Kind;
using analysis::NamedCount;

// What is within this part of each other is called equal: medians of a noisy machine.
constexpr double kEqualWithin = 0.01;

std::string plural(int64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

// "GPU -32.2 us (234.3 us to 202.0 us)"; "GPU as before" where nearly nothing changed.
std::string net(const char* what, double a, double b) {
  if (a == b || std::abs(b - a) <= kEqualWithin * std::max(a, b)) {
    return fmt::format("{} time is the same ({})", what, time_text(b));
  }
  return fmt::format("the {} takes {} {} ({} against {}, {:+.0f} %)", what,
                     time_text(std::abs(b - a)), b > a ? "longer" : "less", time_text(b),
                     time_text(a), a == 0 ? 0 : 100 * (b - a) / a);
}

int64_t total(const std::vector<NamedCount>& list) {
  int64_t sum = 0;
  for (const NamedCount& entry : list) sum += entry.count;
  return sum;
}

// "3 GEMMs" where all of them are, "4 kernels" otherwise; copies and sets apart.
std::string kernels_phrase(const std::vector<NamedCount>& list) {
  int64_t gemms = 0;
  int64_t others = 0;
  for (const NamedCount& entry : list) {
    const Kind kind = analysis::read_kernel_name(entry.name).kind;
    if (kind == Kind::kMemcpy || kind == Kind::kMemset) continue;
    (kind == Kind::kGemm || kind == Kind::kGemv ? gemms : others) += entry.count;
  }
  if (gemms > 0 && others == 0) return plural(gemms, "GEMM");
  if (gemms + others > 0) return plural(gemms + others, "kernel");
  return plural(total(list), "copy or set");
}

// Operators that rewrite shapes and strides, and launch nothing.
bool is_view(std::string_view op) {
  static constexpr std::string_view kViews[] = {
      "aten::t",          "aten::transpose",    "aten::view",      "aten::reshape",
      "aten::as_strided", "aten::permute",      "aten::unsqueeze", "aten::expand",
      "aten::squeeze",    "aten::_unsafe_view", "aten::slice",     "aten::select"};
  return std::find(std::begin(kViews), std::end(kViews), op) != std::end(kViews);
}

// Whether A has view operators and B none of them, or the other way around.
std::string views_phrase(const GroupComparison& group) {
  const auto any_view = [](const std::vector<analysis::HostChange>& changes) {
    return std::any_of(changes.begin(), changes.end(),
                       [](const auto& change) { return is_view(change.name); });
  };
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
  return fmt::format("{} moved against {}", text(*b), text(*a));
}

std::string work_phrase(const GroupComparison& group) {
  std::vector<std::string> parts;
  const auto are = [](const std::string& phrase) {
    return phrase.starts_with("1 ") ? phrase + " is" : phrase + " are";
  };
  if (!group.same.empty()) parts.push_back(are(kernels_phrase(group.same)) + " the same");
  for (const auto& fusion : group.fused) {
    parts.push_back(fmt::format("{} became {}", fmt::join(fusion.ops, " and "), fusion.kernel));
  }
  for (const auto& fusion : group.unfused) {
    parts.push_back(
        fmt::format("{} came apart into {}", fusion.kernel, fmt::join(fusion.ops, " and ")));
  }
  if (!group.resized.empty()) {
    parts.push_back(are(kernels_phrase(group.resized)) + " the same code on another size");
  }
  int64_t changed = 0;
  for (const auto& change : group.changed) changed += change.count;
  if (changed > 0) parts.push_back(are(plural(changed, "kernel")) + " another for the same op");
  if (!group.gone.empty()) parts.push_back(are(kernels_phrase(group.gone)) + " gone");
  if (!group.added.empty()) parts.push_back(are(kernels_phrase(group.added)) + " new");
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace

std::string verdict_text(const analysis::Comparison& comparison) {
  const GroupComparison& group = comparison.groups[comparison.main_group];
  const auto& a = group.a.median;
  const auto& b = group.b.median;
  const bool empty = group.same.empty() && group.same_gpu_work();
  std::string out;
  if (empty) {
    out = "No GPU work on either side";
  } else if (group.same_gpu_work() && comparison.same_gpu_work()) {
    out = fmt::format("The same GPU work: {}", kernels_phrase(group.same));
  } else if (group.same_gpu_work()) {
    out = fmt::format("The same GPU work in {}, but not elsewhere", group.name);
  } else {
    out = "Not the same GPU work: " + work_phrase(group);
  }
  const auto add = [&](const std::string& phrase, const char* separator) {
    if (!phrase.empty()) out += separator + phrase;
  };
  add(views_phrase(group), "; ");
  if (!empty) add(net("GPU", a.device_ns, b.device_ns), "; ");
  add(net("CPU", a.cpu_ns, b.cpu_ns), empty ? "; " : ", ");
  add(bytes_phrase(group), ", ");
  return out + ".";
}

}  // namespace epi::report
