// SPDX-License-Identifier: Apache-2.0
// A comparison of two traces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/compare/compare.h"
#include "epilogue/report/kernels/kernel_names.h"
#include "epilogue/report/steps/step_members.h"
#include "epilogue/report/text/style.h"
#include "epilogue/report/text/table.h"

namespace epi::report {

// Whether both traces run the same GPU work, what changed, and the net change of GPU and CPU time.
std::string verdict_text(const analysis::Comparison& comparison);
// " The GPUs differ: A ran on H100, B on H200."; empty if they do not, or are unknown.
std::string devices_text(const std::string& a, const std::string& b);
// The same without times.
std::string work_verdict_text(const analysis::Comparison& comparison);

struct CompareResult {
  analysis::Comparison comparison;
  std::string file;     // A
  std::string against;  // B
  // With raw names, kernels with the same decoded name are listed separately, and no name is cut.
  NameStyle names = NameStyle::kDecoded;
};
std::string text_of(const CompareResult& result, const Style& style);

// A line of a comparison: "fused", "1 x gelu, mul -> triton_poi_fused_gelu_mul_0".
struct CompareLine {
  std::string title;  // empty: continues the line above
  std::string text;
};
// A group of both traces: a table of its measures, and what changed.
struct ComparePart {
  std::string title;
  Table measures;
  std::vector<CompareLine> lines;
};
std::vector<ComparePart> compare_parts(const analysis::Comparison& comparison);

// One comparison per rank: a line for each, then the one that differs most.
struct RankComparison {
  std::string name;
  const CompareResult* result;
};
std::string text_of(const std::vector<RankComparison>& ranks, const Style& style);

template <>
struct Description<analysis::NamedCount> {
  static constexpr const char* kName = "named_count";
  static constexpr std::tuple kMembers{
      Member{"name", "kernel", Unit::kNone, "its name", &analysis::NamedCount::name},
      Member{"count", "count", Unit::kCount, "how many", &analysis::NamedCount::count}};
};

template <>
struct Description<analysis::ChangedKernel> {
  using Change = analysis::ChangedKernel;
  static constexpr const char* kName = "changed";
  static constexpr std::tuple kMembers{
      Member{"op", "operator", Unit::kNone, "the operator", &Change::op},
      Member{"kernel_a", "from", Unit::kNone, "its kernel in A", &Change::from},
      Member{"kernel_b", "to", Unit::kNone, "its kernel in B", &Change::to},
      Member{"differs", "differs", Unit::kNone, "properties of the kernels that differ",
             &Change::differs},
      Member{"count", "count", Unit::kCount, "how many", &Change::count}};
};

// Kernels that were fused, or that were split.
template <bool kIsFused>
struct FusionItem {
  const analysis::Fusion& fusion;
};
template <bool kIsFused>
struct Description<FusionItem<kIsFused>> {
  using Item = FusionItem<kIsFused>;
  static constexpr const char* kName = kIsFused ? "fused" : "unfused";
  static constexpr std::tuple kMembers{
      Member{"ops", "operators", Unit::kNone, "operators with kernels of their own",
             [](const Item& one) -> auto& { return one.fusion.ops; }},
      Member{"kernel", "kernel", Unit::kNone, "the fused kernel",
             [](const Item& one) -> auto& { return one.fusion.kernel; }},
      Member{"count", "count", Unit::kCount, "how many fused kernels",
             [](const Item& one) { return one.fusion.count; }},
      Member{"replaced", "replaced", Unit::kCount, "kernels on the other side",
             [](const Item& one) { return one.fusion.replaced; }}};
};
template <bool kIsFused>
std::vector<FusionItem<kIsFused>> fusion_items(const std::vector<analysis::Fusion>& fusions) {
  std::vector<FusionItem<kIsFused>> items;
  for (const analysis::Fusion& one : fusions) items.push_back({one});
  return items;
}

template <>
struct Description<analysis::HostChange> {
  using Change = analysis::HostChange;
  static constexpr const char* kName = "host_change";
  static constexpr std::tuple kMembers{
      Member{"name", "event", Unit::kNone, "its name", &Change::name},
      Member{"a", "A", Unit::kCount, "how many in A", &Change::a},
      Member{"b", "B", Unit::kCount, "how many in B", &Change::b}};
};

// The host events of a group.
struct HostChanges {
  const analysis::GroupComparison& group;
};
template <>
struct Description<HostChanges> {
  static constexpr const char* kName = "host_changes";
  static constexpr std::tuple kMembers{
      Member{"same", "same", Unit::kNone, "as many in both",
             [](const HostChanges& one) -> auto& { return one.group.host_same; }},
      Member{"changed", "changed", Unit::kNone, "in both, with another count",
             [](const HostChanges& one) -> auto& { return one.group.host_changed; }},
      Member{"added", "new", Unit::kNone, "only in B",
             [](const HostChanges& one) -> auto& { return one.group.host_added; }},
      Member{"gone", "gone", Unit::kNone, "only in A",
             [](const HostChanges& one) -> auto& { return one.group.host_gone; }}};
};

template <>
struct Description<analysis::Side> {
  using Side = analysis::Side;
  static constexpr const char* kName = "side";
  static constexpr std::tuple kMembers = std::tuple_cat(
      std::tuple{
          Member{"instances", "instances", Unit::kCount, "number of instances", &Side::instances}},
      members_of<&Side::median>(Description<analysis::MedianMeasures>::kMembers),
      std::tuple{Member{"bytes", "bytes moved", Unit::kBytes, "bytes that the shown step moves",
                        [](const Side& one) {
                          return one.bytes ? std::optional(one.bytes->bytes) : std::nullopt;
                        }},
                 Member{"bytes_are_min", "at least", Unit::kNone, "the bytes are a lower bound",
                        [](const Side& one) {
                          return one.bytes ? std::optional(one.bytes->at_least) : std::nullopt;
                        }}});
};

template <>
struct Description<analysis::GroupComparison> {
  using Group = analysis::GroupComparison;
  static constexpr const char* kName = "compared_group";
  static constexpr std::tuple kMembers{
      Member{"name", "group", Unit::kNone, "the steps or an annotation", &Group::name},
      Member{"same", "same", Unit::kNone, "kernels that are the same", &Group::same},
      Member{"resized", "resized", Unit::kNone, "the same kernels for another size",
             &Group::resized},
      Member{"changed", "changed", Unit::kNone, "operators that run another kernel",
             &Group::changed},
      Member{"added", "new", Unit::kNone, "kernels only in B", &Group::added},
      Member{"gone", "gone", Unit::kNone, "kernels only in A", &Group::gone},
      Member{"fused", "fused", Unit::kNone, "several kernels in A, one in B",
             [](const Group& one) { return fusion_items<true>(one.fused); }},
      Member{"unfused", "unfused", Unit::kNone, "one kernel in A, several in B",
             [](const Group& one) { return fusion_items<false>(one.unfused); }},
      Member{"host_events", "host", Unit::kNone, "host events",
             [](const Group& one) { return HostChanges{one}; }},
      Member{"a", "A", Unit::kNone, "measures of A", &Group::a},
      Member{"b", "B", Unit::kNone, "measures of B", &Group::b}};
};

template <>
struct Description<CompareResult> {
  using Result = CompareResult;
  static constexpr const char* kName = "compare";
  static constexpr std::tuple kMembers{
      Member{"against", "against", Unit::kNone, "the file of B", &Result::against},
      Member{"gpu_a", "GPU of A", Unit::kNone, "its name; null if the trace does not name it",
             [](const Result& one) { return if_known(one.comparison.a_device); }},
      Member{"gpu_b", "GPU of B", Unit::kNone, "its name; null if the trace does not name it",
             [](const Result& one) { return if_known(one.comparison.b_device); }},
      Member{"same_gpu_work", "same GPU work", Unit::kNone, "whether all groups run the same work",
             [](const Result& one) { return one.comparison.same_gpu_work(); }},
      Member{"verdict", "verdict", Unit::kNone, "what changed, in words",
             [](const Result& one) { return verdict_text(one.comparison); }},
      Member{"only_a", "only in A", Unit::kNone, "annotations that only A has",
             [](const Result& one) -> auto& { return one.comparison.only_a; }},
      Member{"only_b", "only in B", Unit::kNone, "annotations that only B has",
             [](const Result& one) -> auto& { return one.comparison.only_b; }},
      Member{"groups", "groups", Unit::kNone, "the steps, and annotations that both have",
             [](const Result& one) -> auto& { return one.comparison.groups; }}};
};

}  // namespace epi::report
