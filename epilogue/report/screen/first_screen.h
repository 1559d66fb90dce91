// SPDX-License-Identifier: Apache-2.0
// A trace on one screen, in Markdown, and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/analysis/overview/overview.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/steps/diagnosis_members.h"
#include "epilogue/report/steps/step_members.h"
#include "epilogue/report/text/style.h"

namespace epi::report {

// Lines of the screen, which leave room for a prompt on a terminal of 25.
inline constexpr size_t kScreenLines = 24;

struct SummaryResult {
  SummaryResult(const analysis::StepModels& models, std::string file_name);

  const analysis::StepModels& models;
  analysis::Overview overview;
  std::string file;
  bool suggests_run = false;       // the last line may suggest `epilogue run`
  std::optional<NameStyle> names;  // in the text: kernel names below the screen

  analysis::Limiter regime() const;
  std::vector<std::string_view> conditions() const;
  std::vector<analysis::Diagnosis> diagnoses() const;
  std::vector<struct NamedTimeItem> kernels() const;
  std::vector<struct OperatorItem> ops() const;
  std::optional<double> exact_mfu() const;
};
// At most `kScreenLines` lines, and kernel names below if they are asked for.
std::string text_of(const SummaryResult& result, const Style& style);
std::string summary_markdown(const SummaryResult& result);

// A kernel with its rate.
struct NamedTimeItem : analysis::KernelRate {
  const analysis::NamedTime& time;
};
struct OperatorItem {
  const analysis::NamedTime& time;
};

template <>
struct Description<NamedTimeItem> {
  using Item = NamedTimeItem;
  static constexpr const char* kName = "kernel_time";
  static constexpr std::tuple kMembers = std::tuple_cat(
      std::tuple{Member{"name", "kernel", Unit::kNone, "its name",
                        [](const Item& one) -> auto& { return one.time.name; }},
                 Member{"what", "what", Unit::kNone, "its name, decoded",
                        [](const Item& one) {
                          return kernel_sentence(one.time.name,
                                                 analysis::decode_name(one.time.name));
                        }},
                 Member{"count", "count", Unit::kCount, "number of GPU events",
                        [](const Item& one) { return one.time.count; }},
                 Member{"gpu_us", "time", Unit::kNanoseconds, "sum of their durations",
                        [](const Item& one) { return one.time.ns; }},
                 Member{"gpu_share", "share", Unit::kShare, "as a share of all GPU events",
                        [](const Item& one) { return one.time.share; }}},
      Description<analysis::KernelRate>::kMembers);
};

template <>
struct Description<OperatorItem> {
  using Item = OperatorItem;
  static constexpr const char* kName = "operator_time";
  static constexpr std::tuple kMembers{
      Member{"name", "operator", Unit::kNone, "its name",
             [](const Item& one) -> auto& { return one.time.name; }},
      Member{"count", "calls", Unit::kCount, "number of calls",
             [](const Item& one) { return one.time.count; }},
      Member{"self_cpu_us", "time", Unit::kNanoseconds, "CPU time without the operators in it",
             [](const Item& one) { return one.time.ns; }},
      Member{"self_cpu_share", "share", Unit::kShare, "as a share of all operators",
             [](const Item& one) { return one.time.share; }}};
};

// "GEMM 8192x768x3072 bf16"
std::string group_text(const analysis::WorkGroup& group);

template <>
struct Description<analysis::WorkGroup> {
  using Group = analysis::WorkGroup;
  static constexpr const char* kName = "work_group";
  static constexpr std::tuple kMembers{
      Member{"what", "GPU work", Unit::kNone, "the work", &group_text},
      Member{"calls", "calls", Unit::kCount, "number of GPU events", &Group::calls},
      Member{"gpu_us", "time", Unit::kNanoseconds, "sum of their durations", &Group::ns},
      Member{"gpu_share", "share", Unit::kShare, "as a share of the step's GPU time",
             &Group::share},
      Member{"share_of_peak_flops", "of peak FLOP/s", Unit::kShare, "share of the dense peak",
             &Group::of_peak_flops},
      Member{"share_of_peak_bandwidth", "of peak bandwidth", Unit::kShare,
             "share of the memory bandwidth", &Group::of_peak_bandwidth},
      Member{"gb_per_s", "GB/s", Unit::kBytesPerNs, "bytes over time", &Group::bytes_per_ns}};
};

template <>
struct Description<SummaryResult> {
  using Result = SummaryResult;
  static constexpr const char* kName = "summary";
  static constexpr std::tuple kMembers{
      Member{"gpu", "GPU", Unit::kNone, "its name; null if the trace does not name it",
             [](const Result& one) { return if_known(one.overview.summary.device); }},
      Member{"versions", "versions", Unit::kNone, "versions of PyTorch and CUDA",
             [](const Result& one) -> auto& { return one.overview.summary.versions; }},
      Member{"events", "events", Unit::kCount, "events of the file",
             [](const Result& one) { return one.overview.summary.events; }},
      Member{"regime", "limit", Unit::kNone, "what limits the steps", &Result::regime},
      Member{"conditions", "conditions", Unit::kNone, "conditions under which this holds",
             &Result::conditions},
      Member{"diagnoses", "diagnoses", Unit::kNone,
             "what limits the steps, then each annotation with GPU work", &Result::diagnoses},
      Member{"steps", "steps", Unit::kNone, "every step; the whole trace if it marks none",
             [](const Result& one) -> auto& { return one.models.steps().steps; }},
      Member{"kernels", "kernels", Unit::kNone, "GPU events by name, the longest first",
             &Result::kernels},
      Member{"ops", "operators", Unit::kNone, "operators by name, the longest first", &Result::ops},
      Member{"unlinked_kernels", "unlinked", Unit::kCount,
             "kernels with neither a launch nor an operator",
             [](const Result& one) { return one.overview.summary.unlinked_kernels; }},
      Member{"lost_launches", "lost", Unit::kCount, "launches without a GPU event",
             [](const Result& one) { return one.overview.summary.lost_launches; }},
      Member{"shared_correlations", "shared", Unit::kCount,
             "calls that share their correlation id with another call",
             [](const Result& one) { return one.overview.summary.shared_correlations; }},
      Member{"flops", "FLOPs", Unit::kFlops, "of the shown step, as far as the trace gives them",
             [](const Result& one) { return one.overview.groups.flops; }},
      Member{"mfu", "MFU", Unit::kShare, "of the shown step; null unless all FLOPs are known",
             &Result::exact_mfu},
      Member{"mfu_min", "MFU, at least", Unit::kShare, "from the FLOPs that are known",
             [](const Result& one) { return one.overview.mfu(); }},
      Member{"work", "work", Unit::kNone, "the work of the shown step in groups",
             [](const Result& one) -> auto& { return one.overview.groups.groups; }}};
};

}  // namespace epi::report
