// SPDX-License-Identifier: Apache-2.0
// Decoded kernel names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/names/decoded_name.h"
#include "epilogue/analysis/step/summary.h"
#include "epilogue/report/description/description.h"
#include "epilogue/report/kernels/kernel_names.h"
#include "epilogue/report/text/style.h"

namespace epi::report {

// The decoded name in one line: "cuBLAS GEMM bf16 tn, tile 256x128x64, bias". An unknown name is
// returned unchanged.
std::string kernel_sentence(std::string_view name, const analysis::DecodedName& kernel);

// "256x128x64", with "?" for an unknown K. Empty if the tile is unknown.
std::string tile_text(const analysis::DecodedName& kernel);

// "79 % FLOP/s", "88 % B/s"; a dash if unknown.
std::string rate_text(const analysis::KernelRate& rate);

// A kernel name, decoded, with its time in a trace.
struct KernelItem {
  std::string_view name;
  analysis::DecodedName decoded;
};
struct TimedKernelItem : KernelItem {
  const analysis::NamedTime& time;
};

// Names without a trace.
struct ExplainedNames {
  explicit ExplainedNames(const std::vector<std::string>& names);

  std::vector<KernelItem> kernels;
  std::optional<NameStyle> names;  // in the text: only the names, in this style
};
std::string text_of(const ExplainedNames& result, const Style& style);

// The kernels of a trace, largest time first. Raw names are not cut.
struct ExplainedTrace {
  explicit ExplainedTrace(const trace::Trace& trace);

  std::vector<analysis::NamedTime> times;
  NameStyle names = NameStyle::kDecoded;

  std::vector<TimedKernelItem> kernels() const;
};
std::string text_of(const ExplainedTrace& result, const Style& style);

// A list of the tile's or the cluster's sizes. Null if it is unknown, and in it for an unknown
// size.
std::optional<std::vector<std::optional<int64_t>>> tile_sizes(const KernelItem& item);
std::optional<std::vector<int>> cluster_sizes(const KernelItem& item);

template <>
struct Description<KernelItem> {
  using Item = KernelItem;
  static constexpr const char* kName = "kernel";
  static constexpr std::tuple kMembers{
      Member{"name", "kernel", Unit::kNone, "its name", &Item::name},
      Member{"library", "library", Unit::kNone, "where it is from",
             [](const Item& one) { return if_known(library_text(one.decoded)); }},
      Member{"kind", "kind", Unit::kNone, "what it computes",
             [](const Item& one) { return if_known(text_of(one.decoded.kind)); }},
      Member{"arch", "for", Unit::kNone, "the architecture that it is built for",
             [](const Item& one) { return if_known(one.decoded.arch); }},
      Member{"dtype", "type", Unit::kNone, "the type of its inputs",
             [](const Item& one) { return if_known(text_of(one.decoded.dtype)); }},
      Member{"accumulate", "accumulate", Unit::kNone, "the type of its sums",
             [](const Item& one) { return if_known(text_of(one.decoded.accumulate)); }},
      Member{"output", "output", Unit::kNone, "the type of its result",
             [](const Item& one) { return if_known(text_of(one.decoded.output)); }},
      Member{"layout", "layout", Unit::kNone, "tn is x @ w.T on row-major data",
             [](const Item& one) { return if_known(one.decoded.layout); }},
      Member{"tile", "tile", Unit::kNumber, "m, n and k of a tile", &tile_sizes},
      Member{"stages", "stages", Unit::kNumber, "stages of its pipeline",
             [](const Item& one) { return if_known(one.decoded.stages); }},
      Member{"cluster", "cluster", Unit::kNumber, "blocks of a cluster", &cluster_sizes},
      Member{"epilogue", "epilogue", Unit::kNone, "what its epilogue does, in order",
             [](const Item& one) -> auto& { return one.decoded.epilogue; }},
      Member{"split_k", "split-K", Unit::kNone, "whether it splits k",
             [](const Item& one) { return one.decoded.split_k; }},
      Member{"tensor_cores", "tensor cores", Unit::kNone, "whether it uses tensor cores",
             [](const Item& one) { return one.decoded.tensor_cores; }},
      Member{"alignment", "alignment", Unit::kNumber, "of its operands, in elements",
             [](const Item& one) { return if_known(one.decoded.alignment); }},
      Member{"vector_width", "vectors", Unit::kNumber, "elements per thread and access",
             [](const Item& one) { return if_known(one.decoded.vector_width); }},
      Member{"form", "form", Unit::kNone, "of generated code",
             [](const Item& one) { return if_known(one.decoded.form); }},
      Member{"functor", "functor", Unit::kNone, "the C++ functor of an ATen kernel",
             [](const Item& one) { return if_known(one.decoded.functor); }},
      Member{"ops", "ops", Unit::kNone, "the operators that it implements",
             [](const Item& one) -> auto& { return one.decoded.ops; }}};
};

template <>
struct Description<TimedKernelItem> {
  using Item = TimedKernelItem;
  static constexpr const char* kName = "timed_kernel";
  static constexpr std::tuple kMembers = std::tuple_cat(
      Description<KernelItem>::kMembers,
      std::tuple{Member{"count", "count", Unit::kCount, "number of GPU events",
                        [](const Item& one) { return one.time.count; }},
                 Member{"gpu_us", "time", Unit::kNanoseconds, "sum of their durations",
                        [](const Item& one) { return one.time.ns; }},
                 Member{"gpu_share", "share", Unit::kShare, "as a share of all GPU events",
                        [](const Item& one) { return one.time.share; }}});
};

template <>
struct Description<ExplainedNames> {
  static constexpr const char* kName = "explain";
  static constexpr std::tuple kMembers{
      Member{"kernels", "kernels", Unit::kNone, "every name", &ExplainedNames::kernels}};
};
template <>
struct Description<ExplainedTrace> {
  static constexpr const char* kName = "explain";
  static constexpr std::tuple kMembers{Member{"kernels", "kernels", Unit::kNone,
                                              "kernels, copies and memsets by name",
                                              &ExplainedTrace::kernels}};
};

// Rates of a kernel, or of all kernels with one name.
template <>
struct Description<analysis::KernelRate> {
  using Rate = analysis::KernelRate;
  static constexpr const char* kName = "rate";
  static constexpr std::tuple kMembers{
      Member{"tflop_per_s", "TFLOP/s", Unit::kTeraflopsPerSecond, "FLOPs over time", &Rate::tflops},
      Member{"gb_per_s", "GB/s", Unit::kBytesPerNs, "bytes over time", &Rate::bytes_per_ns},
      Member{"share_of_peak_flops", "of peak FLOP/s", Unit::kShare, "share of the dense peak",
             &Rate::of_peak_flops},
      Member{"share_of_peak_bandwidth", "of peak bandwidth", Unit::kShare,
             "share of the memory bandwidth", &Rate::of_peak_bandwidth}};
};

}  // namespace epi::report
