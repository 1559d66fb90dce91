// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run/run_like.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "epilogue/analysis/advise/blocks.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/names/decode.h"
#include "epilogue/analysis/step/step_models.h"
#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/run/bench_report.h"
#include "epilogue/cli/run/run_report.h"
#include "epilogue/cli/run/workload.h"
#include "epilogue/cli/terminal_call.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/text/units.h"
#include "epilogue/verbs/print_results.h"

namespace epi::cli {
namespace {

using trace::EventId;

// An MLP or a linear found in a trace.
struct FoundBlock {
  int64_t rows = 0;
  int64_t in = 0;
  int64_t out = 0;  // the hidden width of an MLP
  std::string activation;
  std::string dtype;
  double device_ns = 0;
  int64_t count = 0;  // blocks of the same sizes in one step
  int64_t kernels = 0;
  std::vector<std::string> kernel_names;  // distinct, in order
  bool bias = false;
  std::string device;
};

// TRACE[:ANNOTATION]. An existing path is taken as a whole, even if its name contains a colon.
struct LikeArgument {
  std::string file;
  std::optional<std::string> annotation;
};

LikeArgument parse_like(const std::string& text) {
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return {text, {}};
  for (size_t colon = text.find(':'); colon != std::string::npos;
       colon = text.find(':', colon + 1)) {
    const std::string file = text.substr(0, colon);
    if (std::filesystem::exists(file, ignored)) return {file, text.substr(colon + 1)};
  }
  return {text, {}};
}

FoundBlock block_with_kernels(const trace::Trace& trace, const std::vector<EventId>& work) {
  FoundBlock block;
  block.device = analysis::device_name(trace);
  for (const EventId id : work) {
    if (trace.category[id] != trace::Category::kKernel) continue;
    ++block.kernels;
    const std::string name(trace.name_of(id));
    auto& names = block.kernel_names;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return block;
}

FoundBlock mlp_block(const trace::Trace& trace, const analysis::Blocks& blocks) {
  const analysis::GatedMlp& first = blocks.mlps[0];
  FoundBlock block = block_with_kernels(trace, first.work);
  block.rows = first.rows;
  block.in = first.dim;
  block.out = first.hidden;
  block.activation = first.activation;
  block.dtype = first.dtype;
  block.device_ns = first.device_ns;
  block.count = std::count_if(blocks.mlps.begin(), blocks.mlps.end(), [&](const auto& other) {
    return other.rows == first.rows && other.dim == first.dim && other.hidden == first.hidden &&
           other.activation == first.activation && other.dtype == first.dtype;
  });
  return block;
}

// The linear that takes longest.
FoundBlock linear_block(const trace::Trace& trace, const analysis::Blocks& blocks) {
  const auto longest =
      std::max_element(blocks.linears.begin(), blocks.linears.end(),
                       [](const auto& a, const auto& b) { return a.device_ns < b.device_ns; });
  FoundBlock block = block_with_kernels(trace, longest->work);
  block.rows = longest->rows;
  block.in = longest->in;
  block.out = longest->out;
  block.dtype = longest->dtype;
  block.bias = longest->bias;
  block.device_ns = longest->device_ns;
  block.count = std::count_if(blocks.linears.begin(), blocks.linears.end(), [&](const auto& other) {
    return other.rows == longest->rows && other.in == longest->in && other.out == longest->out;
  });
  return block;
}

FoundBlock find_block(const RunFlags& flags, const LikeArgument& like) {
  TerminalCall call({});
  const auto inputs = call.read({{like.file, nullptr}});
  if (inputs.size() != 1) fail("run", "--like {}: needs a single trace, not a folder", like.file);
  verbs::show_notices(call, inputs);
  const analysis::StepModels& models = inputs[0].models();
  const analysis::StepGroup group =
      like.annotation ? models.named(*like.annotation) : models.judged();
  if (group.steps.empty()) {
    if (!like.annotation) fail("run", "--like {}: the trace has no steps", like.file);
    fail("run", "--like {}: no annotation or operator is named {}", like.file, *like.annotation);
  }
  const auto blocks = analysis::find_blocks(models.index(), group.steps[group.shown()].owned.work);
  const bool mlp = flags.workload == "mlp";
  if (mlp && blocks.mlps.empty()) {
    fail("run",
         "--like {}: no gated MLP with recorded shapes (three GEMMs with an activation and a "
         "multiplication between them){}",
         like.file,
         blocks.linears.empty() ? "" : "; to run its linears: epilogue run linear --like");
  }
  if (!mlp && blocks.linears.empty()) {
    fail("run", "--like {}: no linear with recorded shapes outside of MLPs", like.file);
  }
  return mlp ? mlp_block(inputs[0].trace(), blocks) : linear_block(inputs[0].trace(), blocks);
}

// The flags with the block's sizes filled in. --batch, --seq and --dtype override the trace.
RunFlags flags_like(const RunFlags& given, const FoundBlock& block) {
  RunFlags flags = given;
  for (const std::string* size : {&given.dim, &given.hidden, &given.in_dim, &given.out_dim}) {
    if (!size->empty()) {
      fail("run",
           "--like takes the widths from the trace: remove --dim, --hidden, --in-dim, --out-dim");
    }
  }
  // The trace has rows only. Without --seq, each row is a sequence of length 1.
  if (flags.batch.empty()) {
    const int64_t seq = flags.seq.empty() ? 1 : positive_number("--seq", flags.seq);
    flags.batch = fmt::format("{}", std::max<int64_t>(1, block.rows / seq));
  }
  if (flags.workload == "mlp" && flags.seq.empty()) flags.seq = std::string("1");
  if (flags.workload == "mlp" && given.activation != "geglu" &&
      given.activation != block.activation) {
    fail("run", "--like: the trace's activation is {}, not {}", block.activation, given.activation);
  }
  if (flags.dtype.empty()) flags.dtype = block.dtype;
  if (flags.workload == "linear") flags.no_bias = !block.bias;
  if (flags.workload == "mlp") {
    flags.dim = fmt::format("{}", block.in);
    flags.hidden = fmt::format("{}", block.out);
    flags.activation = block.activation;
  } else {
    flags.in_dim = fmt::format("{}", block.in);
    flags.out_dim = fmt::format("{}", block.out);
  }
  return flags;
}

bool runs_here(const ModeResult& mode, const std::string& kernel) {
  const auto& names = mode.kernel_names;
  return std::find(names.begin(), names.end(), kernel) != names.end();
}

// The trace's kernels, each marked "same" if eager mode also runs it here.
std::string kernels_text(const FoundBlock& block, const ModeResult& eager) {
  std::string out = "\nkernels in the trace, and whether eager runs the same ones here:\n";
  for (const std::string& name : block.kernel_names) {
    const std::string sentence = report::kernel_sentence(name, analysis::decode_name(name));
    out += fmt::format("  {}  {}\n", runs_here(eager, name) ? "same " : "other", sentence);
  }
  return out;
}

void print_text(const FoundBlock& block, const Workload& workload,
                const std::vector<ModeResult>& modes, const Peaks& peaks, bool markdown) {
  const std::string times =
      block.count > 1 ? fmt::format(", {} times per step", block.count) : std::string();
  print_out("{}\nin the trace, {} on {}: {}, {} of kernel time{}\n", workload.title,
            report::plural(static_cast<double>(block.rows), "row"),
            block.device.empty() ? "an unknown device" : block.device,
            report::plural(static_cast<double>(block.kernels), "kernel"),
            report::time_text(block.device_ns), times);
  print_out("measured on {}:\n\n", device_text(workload.device));
  const report::Table table = mode_table(modes, peaks);
  print_out("{}{}{}\n{}\n", markdown ? table.markdown() : table.text(), markdown ? "\n" : "",
            spread_text(modes), mode_table_legend());
  print_out("{}", kernels_text(block, modes[0]));
  const bool same_device = device_text(workload.device).find(block.device) != std::string::npos;
  if (workload.device == kCpu && !block.device.empty() && !same_device) {
    print_out("\nthe trace is from another device: compare the modes only with each other\n");
  }
}

void print_like_json(const RunFlags& flags, const FoundBlock& block, const LikeArgument& like,
                     const Workload& workload, const std::vector<ModeResult>& modes,
                     const Peaks& peaks) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1).key("workload").string(flags.workload);
  json.key("title").string(workload.title).key("like").string(like.file);
  json.key("device").string(workload.device == kCpu ? "cpu" : "cuda");
  json.key("on").string(device_text(workload.device)).key("dtype").string(name(workload.dtype));
  json.key("trace").begin_object().key("device");
  block.device.empty() ? json.null() : json.string(block.device);
  json.key("rows").integer(block.rows).key("in").integer(block.in).key("out").integer(block.out);
  json.key("activation");
  block.activation.empty() ? json.null() : json.string(block.activation);
  json.key("count").integer(block.count).key("kernels").integer(block.kernels);
  json.key("gpu_us").fixed(block.device_ns / 1000, 3);
  json.key("kernel_names").begin_array();
  for (const std::string& kernel : block.kernel_names) {
    json.begin_object().key("name").string(kernel);
    json.key("runs_here").boolean(runs_here(modes[0], kernel)).end_object();
  }
  json.end_array().end_object();
  modes_json(json, modes, peaks);
  print_out("{}\n", json.end_object().text());
}

}  // namespace

int run_like(const RunFlags& given) {
  if (given.compile || !given.kernels.empty() || !given.weights.empty() || !given.trace.empty() ||
      given.table) {
    fail("run",
         "--like runs every mode: it takes only --batch, --seq, --dtype, --device, --json, --md");
  }
  const LikeArgument like = parse_like(given.like);
  const FoundBlock block = find_block(given, like);
  const RunFlags flags = flags_like(given, block);
  parse_dtype(flags.dtype);
  const Device device = choose_device(flags);
  const auto sizes = expand_sizes(flags);
  if (sizes.size() != 1) fail("run", "--like: --batch and --seq take one number");
  const auto workload = plan_workload(flags, sizes[0], device);
  throw_if_failed(workload);
  const std::vector<ModeResult> modes = measure_modes(*workload);
  const Peaks peaks = measure_peaks(device, workload->dtype, modes[0].bytes);
  if (flags.json) {
    print_like_json(flags, block, like, *workload, modes, peaks);
  } else {
    print_text(block, *workload, modes, peaks, flags.markdown);
  }
  return kDone;
}

}  // namespace epi::cli
