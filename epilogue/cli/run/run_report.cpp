// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "epilogue/base/machine.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/report/description/described_json.h"
#include "epilogue/report/tables/profiler_table_report.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"

namespace epi::cli {
namespace {

struct Totals {
  int64_t kernels = 0;
  int64_t bytes = 0;
  int64_t flops = 0;
};

Totals totals_of(const RunResult& result) {
  Totals totals;
  for (const KernelSum& kernel : result.kernels) {
    totals.kernels += kernel.count;
    totals.bytes += kernel.bytes;
    totals.flops += kernel.flops;
  }
  return totals;
}

double median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }
double median_ns(const RunResult& result) { return median(result.times.forward_ns); }

// FLOPs per nanosecond equal GFLOP/s.
double gflops(const RunResult& result) {
  return static_cast<double>(totals_of(result).flops) / median_ns(result);
}

constexpr size_t kMaxNameInRow = 23;  // with the other columns at their widest: 80 columns

// Width of the operator column: fits the nested operators of a linear.
constexpr size_t kNameWidth = 26;

// The layouts of the inputs, wrapped at 80 columns.
std::string wrapped_inputs(const ForwardOp& op) {
  constexpr size_t kLineWidth = 80;
  std::string out;
  size_t column = kNameWidth;
  for (const std::string& text : op.inputs) {
    if (column + 1 + text.size() > kLineWidth && column > kNameWidth) {
      out += '\n' + std::string(kNameWidth, ' ');
      column = kNameWidth;
    }
    out += ' ' + text;
    column += 1 + text.size();
  }
  return out;
}

// Operators and their kernels, in the order of their start times.
std::string chain_text(const RunResult& result) {
  std::multimap<int64_t, std::string> lines;
  for (const ForwardOp& op : result.ops) {
    const std::string indent(2 * static_cast<size_t>(op.depth) + 2, ' ');
    const std::string inputs = wrapped_inputs(op);
    lines.emplace(op.start_ns,
                  inputs.empty() ? indent + op.name + '\n'
                                 : fmt::format("{:<{}}{}\n", indent + op.name, kNameWidth, inputs));
    for (const ForwardKernel& kernel : op.kernels) {
      lines.emplace(kernel.launched_ns, fmt::format("{}  > {}\n", indent, short_name(kernel.name)));
    }
  }
  std::string out;
  for (const auto& [start_ns, line] : lines) out += line;
  return out;
}

// A column of rates: in units of 1e9 per second, or of 1e12 if one of them is that large.
struct RateColumn {
  double scale = 1;
  bool is_tera() const { return scale < 1; }
  void include(double giga_per_second) {
    if (giga_per_second >= 999.95) scale = 1e-3;
  }
  std::string cell(double giga_per_second) const {
    return is_tera() ? report::four_digits(scale * giga_per_second)
                     : fmt::format("{:.1f}", giga_per_second);
  }
};

report::Table kernel_table(const RunResult& result) {
  using report::Align;
  RateColumn bytes;
  RateColumn flops;
  for (const KernelSum& kernel : result.kernels) {
    const double dur_ns = std::max<double>(1, static_cast<double>(kernel.dur_ns));
    bytes.include(static_cast<double>(kernel.bytes) / dur_ns);
    flops.include(static_cast<double>(kernel.flops) / dur_ns);
  }
  report::Table table({{"kernel", Align::kLeft},
                       {"runs", Align::kRight},
                       {"bytes", Align::kRight},
                       {"FLOP", Align::kRight},
                       {"time", Align::kRight},
                       {bytes.is_tera() ? "TB/s" : "GB/s", Align::kRight},
                       {flops.is_tera() ? "TFLOP/s" : "GFLOP/s", Align::kRight}});
  table.wrap_first(kMaxNameInRow);
  for (const KernelSum& kernel : result.kernels) {
    const double dur_ns = std::max<double>(1, static_cast<double>(kernel.dur_ns));
    if (kernel.bytes == 0) {  // launched by a CUDA graph: bytes and FLOPs are unknown
      table.add_row({kernel.name, fmt::format("{}", kernel.count), "-", "-",
                     report::time_text(dur_ns), "-", "-"});
      continue;
    }
    table.add_row({kernel.name, fmt::format("{}", kernel.count),
                   report::bytes_text(static_cast<double>(kernel.bytes)),
                   report::flops_text(static_cast<double>(kernel.flops)), report::time_text(dur_ns),
                   bytes.cell(static_cast<double>(kernel.bytes) / dur_ns),
                   flops.cell(static_cast<double>(kernel.flops) / dur_ns)});
  }
  return table;
}

std::string closing_text(const RunResult& result) {
  const Totals totals = totals_of(result);
  const ForwardTimes& times = result.times;
  // The bytes and FLOPs of kernels in a CUDA graph are unknown.
  const bool known = totals.bytes > 0;
  std::string out = fmt::format(
      "{} per forward{}\n", report::plural(static_cast<double>(totals.kernels), "kernel"),
      known ? ", " + report::bytes_text(static_cast<double>(totals.bytes)) + " moved" : "");
  const std::string samples =
      times.calls_per_sample == 1
          ? fmt::format("{}", times.forward_ns.size())
          : fmt::format("{} runs of {} forwards", times.forward_ns.size(), times.calls_per_sample);
  const std::string time = fmt::format(
      "{} per forward (median of {}, min {}, max {}){}", report::time_text(median_ns(result)),
      samples, report::time_text(times.forward_ns.front()),
      report::time_text(times.forward_ns.back()),
      known ? fmt::format(", {}/s", report::flops_text(1e9 * gflops(result))) : "");
  out += report::wrapped(time, 80) + '\n';
  if (!times.launch_ns.empty()) {
    out += fmt::format("{} of host time to launch one forward\n",
                       report::time_text(median(times.launch_ns)));
  }
  return out;
}

const char* fuse_text(const CompileResult& compiled) {
  constexpr const char* kFuse[] = {"none", "pointwise", "epilogue"};
  return kFuse[static_cast<int>(compiled.options.fuse)];
}

std::string mode_text(const RunResult& result) {
  if (!result.kernels_from.empty()) return "prebuilt (" + result.kernels_from + ")";
  if (!result.compiled) return "eager";
  return fmt::format("compiled (fuse {}, dynamic {}{})", fuse_text(*result.compiled),
                     result.compiled->options.dynamic ? "on" : "off",
                     result.compiled->options.graph ? ", graph" : "");
}

// When and why code was compiled, and whether it came from the cache.
std::string compile_text(const RunResult& result) {
  if (!result.compiled) return "";
  std::string out = result.compiled->shown.empty() ? "" : "\n" + result.compiled->shown;
  for (const VariantInfo& variant : result.compiled->variants) {
    out += fmt::format("compiled in {}{}: {}\n", report::time_text(variant.compile_ms * 1e6),
                       variant.from_cache ? " with code from the cache" : "", variant.reason);
    if (!variant.cache_error.empty())
      out += fmt::format("code cache not used: {}\n", variant.cache_error);
  }
  return out + report::plural(result.compiled->recompiles, "recompile") + '\n';
}

void compile_json(JsonWriter& json, const RunResult& result) {
  json.key("package");
  result.kernels_from.empty() ? json.null() : json.string(result.kernels_from);
  json.key("recompiles").integer(result.compiled ? result.compiled->recompiles : 0);
  json.key("fuse");
  result.compiled ? json.string(fuse_text(*result.compiled)) : json.null();
  json.key("dynamic");
  result.compiled ? json.boolean(result.compiled->options.dynamic) : json.null();
  json.key("graph");
  result.compiled ? json.boolean(result.compiled->options.graph) : json.null();
  json.key("shown");
  const bool shown = result.compiled && !result.compiled->shown.empty();
  shown ? json.string(result.compiled->shown) : json.null();
  json.key("compiled");
  if (!result.compiled) {
    json.null();
    return;
  }
  json.begin_array();
  for (const VariantInfo& variant : result.compiled->variants) {
    json.begin_object();
    json.key("reason").string(variant.reason);
    json.key("compile_us").fixed(variant.compile_ms * 1000, 3);
    json.key("from_cache").boolean(variant.from_cache);
    json.key("not_cached");
    variant.cache_error.empty() ? json.null() : json.string(variant.cache_error);
    json.end_object();
  }
  json.end_array();
}

// The profiler's table of --table, and the paths of the files written.
std::string record_text(const RunResult& result, bool markdown) {
  std::string out;
  if (result.table) {
    out += '\n' + report::text_of(report::TableResult{*result.table, {}}, {.markdown = markdown});
  }
  if (!result.trace_path.empty()) {
    out += fmt::format("\ntrace: {}\n", result.trace_path);
    if (!result.table_path.empty()) out += fmt::format("table: {}\n", result.table_path);
  }
  return out;
}

}  // namespace

std::string device_text(Device device) {
  if (device == kCpu) {
    return fmt::format("the CPU: {}, {}, {}", cpu_name(), report::plural(num_threads(), "thread"),
                       name(cpu_isa()));
  }
  const auto found = cuda::devices();
  return fmt::format("{}: {}", name(device),
                     found ? found->at(static_cast<size_t>(device.index)).name : "?");
}

std::vector<KernelSum> sum_kernels(const std::vector<ForwardOp>& ops) {
  std::vector<KernelSum> sums;
  const auto add = [&](const ForwardKernel& kernel) {
    auto sum = std::find_if(sums.begin(), sums.end(),
                            [&](const KernelSum& s) { return s.name == kernel.name; });
    if (sum == sums.end())
      sum = sums.insert(sums.end(), {kernel.name, 0, 0, 0, 0, kernel.launched_ns});
    ++sum->count;
    sum->bytes += kernel.bytes;
    sum->flops += kernel.flops;
    sum->dur_ns += kernel.dur_ns;
    sum->launched_ns = std::min(sum->launched_ns, kernel.launched_ns);
  };
  for (const ForwardOp& op : ops) std::for_each(op.kernels.begin(), op.kernels.end(), add);
  std::stable_sort(sums.begin(), sums.end(), [](const KernelSum& a, const KernelSum& b) {
    return a.launched_ns < b.launched_ns;
  });
  return sums;
}

std::string run_text(const RunResult& result, bool markdown) {
  const std::string title =
      fmt::format("{}\n{}{}{}, on {}\n", result.title, mode_text(result),
                  result.compiled ? "\n" : ", ", name(result.dtype), device_text(result.device));
  if (markdown) {
    return fmt::format("{}\n```\n{}```\n\n{}\n{}{}", title, chain_text(result),
                       kernel_table(result).markdown(), closing_text(result),
                       compile_text(result) + record_text(result, true));
  }
  return fmt::format("{}\n  {:<{}} inputs: [shape]/(strides); > is a kernel\n{}\n{}\n{}{}", title,
                     "op", kNameWidth - 2, chain_text(result), kernel_table(result).text(),
                     closing_text(result), compile_text(result) + record_text(result, false));
}

void run_json(JsonWriter& json, const RunResult& result) {
  const Totals totals = totals_of(result);
  json.key("workload").string(result.workload);
  const bool prebuilt = !result.kernels_from.empty();
  json.key("mode").string(prebuilt ? "prebuilt" : result.compiled ? "compiled" : "eager");
  json.key("device").string(result.device == kCpu ? "cpu" : "cuda");
  json.key("dtype").string(name(result.dtype));
  json.key("kernels_per_forward").integer(totals.kernels);
  json.key("kernels").begin_array();
  for (const KernelSum& kernel : result.kernels) {
    json.begin_object();
    json.key("name").string(kernel.name);
    json.key("count").integer(kernel.count);
    json.key("bytes");
    kernel.bytes > 0 ? json.integer(kernel.bytes) : json.null();
    json.key("flops");
    kernel.bytes > 0 ? json.integer(kernel.flops) : json.null();
    json.end_object();
  }
  json.end_array();
  json.key("bytes_per_forward");
  totals.bytes > 0 ? json.integer(totals.bytes) : json.null();
  json.key("us_per_forward").fixed(median_ns(result) / 1000, 3);
  json.key("us_to_issue");
  const auto& launch_ns = result.times.launch_ns;
  launch_ns.empty() ? json.null() : json.fixed(median(launch_ns) / 1000, 3);
  json.key("gflops");
  totals.bytes > 0 ? json.fixed(gflops(result), 3) : json.null();
  compile_json(json, result);
  json.key("trace");
  result.trace_path.empty() ? json.null() : json.string(result.trace_path);
  json.key("table");
  if (!result.table) {
    json.null();
    return;
  }
  json.begin_object();
  report::DescribedJson(json, report::kSchema).members(report::TableResult{*result.table, {}});
  json.end_object();
}

}  // namespace epi::cli
