// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/kernels/kernel_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/join.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

using analysis::DecodedName;
using analysis::Kind;
using analysis::Library;
using analysis::NumberType;

std::string library_title(const DecodedName& kernel) {
  switch (kernel.library) {
    case Library::kUnknown:
      return "";
    case Library::kNamed:
      return kernel.library_name;
    case Library::kCublas:
      return "cuBLAS";
    case Library::kCutlass:
      return "CUTLASS";
    case Library::kCudnn:
      return "cuDNN";
    case Library::kAten:
      return "ATen";
    case Library::kTriton:
      return "Triton";
    case Library::kLiger:
      return "Liger";
    case Library::kNccl:
      return "NCCL";
    case Library::kFlash:
      return "FlashAttention";
    case Library::kEpilogue:
      return "Epilogue";
    case Library::kRocblas:
      return "rocBLAS";
    case Library::kCuda:
      return "CUDA";
    case Library::kFbgemm:
      return "FBGEMM";
    case Library::kVllm:
      return "vLLM";
    case Library::kSglang:
      return "SGLang";
    case Library::kFlashInfer:
      return "FlashInfer";
    case Library::kTensorrtLlm:
      return "TensorRT-LLM";
    case Library::kMarlin:
      return "Marlin";
    case Library::kDeepEp:
      return "DeepEP";
    case Library::kSage:
      return "SageAttention";
    case Library::kMiopen:
      return "MIOpen";
    case Library::kAiter:
      return "AITER";
    case Library::kCk:
      return "Composable Kernel";
    case Library::kRocprim:
      return "rocPRIM";
  }
  return "";
}

std::string kind_title(Kind kind) {
  switch (kind) {
    case Kind::kGemm:
      return "GEMM";
    case Kind::kGemv:
      return "GEMV";
    case Kind::kSplitKReduce:
      return "split-K reduction";
    case Kind::kEpilogue:
      return "GEMM epilogue";
    case Kind::kConv:
      return "convolution";
    case Kind::kComm:
      return "communication";
    default:
      return std::string(text_of(kind));
  }
}

std::string layout_text(const std::string& layout) {
  if (layout == "tn") return "tn: x @ w.T on row-major data";
  if (layout == "nn") return "nn: x @ w on row-major data";
  if (layout == "nt") return "nt: x.T @ w on row-major data";
  return "tt: x.T @ w.T on row-major data";
}

std::string types_text(const DecodedName& kernel) {
  std::vector<std::string> parts;
  const auto add = [&](NumberType type, const char* role) {
    if (type != NumberType::kUnknown) parts.push_back(fmt::format("{} {}", text_of(type), role));
  };
  add(kernel.dtype, "in");
  add(kernel.accumulate, is_gemm(kernel.kind) ? "accumulate" : "inside");
  add(kernel.output, "out");
  return join(parts, ", ");
}

std::string tile_line(const DecodedName& kernel) {
  std::string out = tile_text(kernel);
  if (kernel.stages > 0) {
    out += fmt::format(", {} stage{}", kernel.stages, kernel.stages == 1 ? "" : "s");
  }
  if (!kernel.cluster.empty()) out += fmt::format(", cluster {}", join(kernel.cluster, "x"));
  return out;
}

}  // namespace

std::string tile_text(const DecodedName& kernel) {
  if (kernel.tile[0] == 0) return {};
  const std::string k = kernel.tile[2] == 0 ? "?" : fmt::format("{}", kernel.tile[2]);
  return fmt::format("{}x{}x{}", kernel.tile[0], kernel.tile[1], k);
}

std::string kernel_sentence(std::string_view name, const DecodedName& kernel) {
  if (kernel.library == Library::kUnknown && kernel.kind == Kind::kUnknown) {
    return std::string(name);
  }
  // "Memcpy DtoH (Device -> Pageable)" is readable as it is.
  if (kernel.kind == Kind::kMemcpy || kernel.kind == Kind::kMemset) return std::string(name);
  std::string out = library_title(kernel);
  const auto add = [&](std::string_view text, const char* separator = " ") {
    if (text.empty()) return;
    if (!out.empty()) out += separator;
    out += text;
  };
  add(kind_title(kernel.kind));
  // For a GEMM, a list of several operators means that the others are fused into it.
  if (!kernel.ops.empty() && (!is_gemm(kernel.kind) || kernel.ops.size() > 1)) {
    add(join(kernel.ops, ", "), ": ");
  }
  add(text_of(kernel.dtype), is_gemm(kernel.kind) ? " " : ", ");
  add(kernel.layout);
  if (kernel.tile[0] != 0 && is_gemm(kernel.kind)) add("tile " + tile_text(kernel), ", ");
  if (kernel.split_k.value_or(false)) add("split-K", ", ");
  if (!kernel.epilogue.empty()) add(join(kernel.epilogue, " + "), ", ");
  if (kernel.library == Library::kUnknown) {
    add(fmt::format("({})", analysis::function_name(name)));
  }
  return out;
}

std::string rate_text(const analysis::KernelRate& rate) {
  const auto compute_bound = rate.is_compute_bound();
  if (!compute_bound) return "-";
  // Above the peak bandwidth, the data come from a cache.
  if (!*compute_bound && *rate.of_peak_bandwidth > 1) return "in cache";
  return *compute_bound ? fmt::format("{:.0f} % FLOP/s", 100 * *rate.of_peak_flops)
                        : fmt::format("{:.0f} % B/s", 100 * *rate.of_peak_bandwidth);
}

std::optional<std::vector<std::optional<int64_t>>> tile_sizes(const KernelItem& item) {
  if (item.decoded.tile[0] == 0) return std::nullopt;
  std::vector<std::optional<int64_t>> sizes;
  for (const int size : item.decoded.tile) sizes.push_back(if_known(size));
  return sizes;
}

std::optional<std::vector<int>> cluster_sizes(const KernelItem& item) {
  if (item.decoded.cluster.empty()) return std::nullopt;
  return item.decoded.cluster;
}

namespace {

// The raw name, and a line for each decoded property.
std::string kernel_text(std::string_view name, const DecodedName& kernel) {
  std::string out = fmt::format("{}\n", name);
  const auto line = [&](const char* title, const std::string& text) {
    if (!text.empty()) out += fmt::format("  {:<10}{}\n", title, text);
  };
  line("library", library_title(kernel));
  line("kind", kind_title(kernel.kind));
  line("for", kernel.arch);
  if (kernel.tensor_cores) line("units", *kernel.tensor_cores ? "tensor cores" : "no tensor cores");
  line("types", types_text(kernel));
  line("tile", tile_line(kernel));
  if (!kernel.layout.empty()) line("layout", layout_text(kernel.layout));
  if (kernel.split_k) line("split-K", *kernel.split_k ? "yes" : "no");
  line("epilogue", join(kernel.epilogue, ", then "));
  if (kernel.alignment > 0) line("alignment", fmt::format("{} elements", kernel.alignment));
  if (kernel.vector_width > 0) line("vectors", fmt::format("of {} elements", kernel.vector_width));
  line("form", kernel.form);
  line("functor", kernel.functor);
  line("ops", join(kernel.ops, ", "));
  if (kernel.library == Library::kUnknown && kernel.kind == Kind::kUnknown) {
    out += "  unknown name: add its library and kind with --names-file (docs/explain.md)\n";
  }
  return out;
}

Table named_table(const std::vector<analysis::NamedTime>& kernels, NameStyle names) {
  Table table({{"count", Align::kRight},
               {"time", Align::kRight},
               {"share", Align::kRight},
               {"kernel", Align::kLeft}});
  for (const auto& kernel : kernels) {
    const auto lines = name_lines(kernel.name, names);
    table.add_row({fmt::format("{}", kernel.count), time_text(static_cast<double>(kernel.ns)),
                   fmt::format("{:.1f} %", 100 * kernel.share), lines[0]});
    for (size_t i = 1; i < lines.size(); ++i) table.add_row({"", "", "", "  " + lines[i]});
  }
  return table;
}

Table decoded_table(const std::vector<analysis::NamedTime>& kernels) {
  Table table({{"kernel", Align::kLeft},
               {"variants", Align::kRight},
               {"count", Align::kRight},
               {"time", Align::kRight},
               {"share", Align::kRight}});
  // Names that decode to the same text share a row.
  struct Row {
    std::string text;
    int64_t count = 0;
    int64_t ns = 0;
    double share = 0;
    int64_t names = 0;
  };
  std::vector<Row> rows;
  std::map<std::string, size_t> places;
  for (const auto& kernel : kernels) {
    const std::string text = kernel_sentence(kernel.name, analysis::decode_name(kernel.name));
    const auto [place, is_new] = places.try_emplace(text, rows.size());
    if (is_new) rows.push_back({.text = text});
    Row& row = rows[place->second];
    row.count += kernel.count;
    row.ns += kernel.ns;
    row.share += kernel.share;
    ++row.names;
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.ns > b.ns; });
  for (const Row& row : rows) {
    table.add_row({row.text, fmt::format("{}", row.names), fmt::format("{}", row.count),
                   time_text(static_cast<double>(row.ns)),
                   fmt::format("{:.1f} %", 100 * row.share)});
  }
  return table;
}

}  // namespace

ExplainedNames::ExplainedNames(const std::vector<std::string>& given) {
  for (const std::string& name : given) kernels.push_back({name, analysis::decode_name(name)});
}

std::string text_of(const ExplainedNames& result, const Style& style) {
  std::string out;
  for (const KernelItem& one : result.kernels) {
    if (result.names) {
      for (const std::string& line : name_lines(one.name, *result.names)) out += line + '\n';
    } else if (style.markdown) {
      out += fmt::format("- `{}`: {}\n", one.name, kernel_sentence(one.name, one.decoded));
    } else {
      out += (out.empty() ? "" : "\n") + kernel_text(one.name, one.decoded);
    }
  }
  return out;
}

ExplainedTrace::ExplainedTrace(const trace::Trace& trace) : times(analysis::kernel_times(trace)) {}

std::vector<TimedKernelItem> ExplainedTrace::kernels() const {
  std::vector<TimedKernelItem> items;
  for (const analysis::NamedTime& time : times) {
    items.push_back({{time.name, analysis::decode_name(time.name)}, time});
  }
  return items;
}

std::string text_of(const ExplainedTrace& result, const Style& style) {
  if (result.times.empty()) return "the trace has no kernels\n";
  if (result.names == NameStyle::kDecoded) {
    const Table table = decoded_table(result.times);
    return style.markdown ? table.markdown() : table.text(style.width);
  }
  const Table table = named_table(result.times, result.names);
  return style.markdown ? table.markdown() : table.text();
}

}  // namespace epi::report
