// SPDX-License-Identifier: Apache-2.0
// `epilogue run linear | mlp | matmul-add`: records forwards with their operators and kernels, then
// times forwards without recording.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/join.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/progress.h"
#include "epilogue/cli/run/run_forwards.h"
#include "epilogue/cli/run/run_like.h"
#include "epilogue/cli/run/run_options.h"
#include "epilogue/cli/run/run_record.h"
#include "epilogue/cli/run/run_report.h"
#include "epilogue/cli/run/workload.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/verbs/output_rules.h"

namespace epi::cli {
namespace {

// A block shared by the runs of a list of batches, so that it compiles only once.
struct SharedBlock {
  std::string name;
  compiler::TensorFunction forward;  // eager, or compiled
  std::optional<Compiled> compiled{};
};

// With --dynamic off, each of the `runs` may need a variant.
SharedBlock make_block(const RunFlags& flags, const Workload& workload, size_t runs) {
  auto block = workload.make_block();
  throw_if_failed(block);
  if (auto options = parse_compile(flags)) {
    options->max_variants = std::max(options->max_variants, static_cast<int>(runs));
    const Compiled compiled(block->function, block->parameters, *options);
    return {workload.block_name, compiled, compiled};
  }
  return {workload.block_name, block->function};
}

// The code of a kernel, or of all if the name is empty.
std::string code_of(const VariantInfo& variant, const std::string& kernel) {
  if (kernel.empty()) return variant.code;
  for (size_t i = 0; i < variant.kernels.size(); ++i) {
    if (variant.kernels[i] != kernel) continue;
    if (variant.kernel_code[i].empty()) {
      fail("run", "--kernel {}: runs as its eager kernel, which has no generated code", kernel);
    }
    return variant.kernel_code[i];
  }
  fail("run", "--kernel {}: no such kernel, only {}", kernel, join(variant.kernels, ", "));
}

// The variants that this run added; earlier runs had compiled `before` variants.
CompileResult compile_result(const RunFlags& flags, const Compiled& compiled, size_t before) {
  CompileResult result{parse_compile(flags).value_or(CompileOptions()), compiled.variants(), 0};
  const VariantInfo& last = result.variants.back();
  if (flags.show == "graph") result.shown = last.stages.back();
  if (flags.show == "passes") result.shown = join(last.stages, "\n");
  if (flags.show == "code") result.shown = code_of(last, flags.kernel);
  if (flags.show == "plan") result.shown = last.plan;
  result.variants.erase(result.variants.begin(),
                        result.variants.begin() + static_cast<std::ptrdiff_t>(before));
  result.recompiles = static_cast<int>(result.variants.size()) - (before == 0 ? 1 : 0);
  return result;
}

RunResult run_once(const RunFlags& flags, const RunSizes& sizes, const Workload& workload,
                   const SharedBlock& block) {
  const std::vector<Tensor> inputs = workload.make_inputs();
  const size_t variants_before = block.compiled ? block.compiled->variants().size() : 0;
  const Forward forward = [&] {
    const RecordFunction range(workload.annotation);
    block.forward(inputs);
  };
  Progress progress;
  warm_up(forward, parse_count("--warmup", flags.warmup), progress);
  RunResult result;
  result.workload = flags.workload;
  result.title = workload.title;
  result.dtype = workload.dtype;
  result.device = workload.device;
  result.kernels_from = flags.kernels;
  const trace::Trace trace = recorded_forwards(forward, parse_steps(flags), progress);
  result.ops = first_forward(trace, workload.annotation);
  result.kernels = sum_kernels(result.ops);
  if (flags.table || !flags.trace.empty()) {
    auto table = analysis::profiler_table(trace);
    analysis::sort_rows(table, "cuda_time_total");
    if (!flags.trace.empty()) write_record(flags, sizes, trace, table, result);
    if (flags.table) result.table = std::move(table);
  }
  result.times = timed_forwards(forward, workload.device, progress);
  verbs::refuse_changed_inputs();
  if (block.compiled) result.compiled = compile_result(flags, *block.compiled, variants_before);
  return result;
}

struct PlannedRun {
  RunSizes sizes;
  Workload workload;
};

// Checks every run before the first one starts.
std::vector<PlannedRun> plan_all(const RunFlags& flags, Device device) {
  std::vector<PlannedRun> runs;
  for (const RunSizes& sizes : expand_sizes(flags)) {
    auto workload = plan_workload(flags, sizes, device);
    throw_if_failed(workload);
    runs.push_back({sizes, std::move(*workload)});
  }
  return runs;
}

void print_json(const std::vector<RunResult>& results) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1);
  if (results.size() == 1) {
    run_json(json, results[0]);
  } else {
    json.key("runs").begin_array();
    for (const RunResult& result : results) {
      json.begin_object();
      run_json(json, result);
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
  print_out("{}\n", json.text());
}

int run(const RunFlags& flags) {
  if (!flags.like.empty()) return run_like(flags);
  parse_dtype(flags.dtype);
  parse_count("--warmup", flags.warmup);
  parse_steps(flags);
  parse_compile(flags);
  check_trace_folder(flags);
  const Device device = choose_device(flags);
  std::vector<RunResult> results;
  SharedBlock block;
  const std::vector<PlannedRun> runs = plan_all(flags, device);
  for (const PlannedRun& one : runs) check_record(flags, one.sizes);
  for (const auto& [sizes, workload] : runs) {
    if (block.name != workload.block_name) block = make_block(flags, workload, runs.size());
    results.push_back(run_once(flags, sizes, workload, block));
    if (flags.json) continue;
    print_out("{}{}", results.size() == 1 ? "" : "\n", run_text(results.back(), flags.markdown));
  }
  if (flags.json) print_json(results);
  return kDone;
}

void add_sizes(Command& verb, RunFlags& flags) {
  const auto size = [&](const char* names, std::string& value, const char* help) {
    verb.add(names, value, help).value_name("N[,N...]");
  };
  if (flags.workload == "mlp") {
    size("--batch", flags.batch, "Batch size (64)");
    size("--seq", flags.seq, "Sequence length (128)");
    size("--dim", flags.dim, "Width of x (768, or from --weights)");
    size("--hidden", flags.hidden, "Hidden width (3072, or from --weights)");
    verb.add("--activation", flags.activation, "Activation: tanh GELU, erf GELU, or SiLU (geglu)")
        .value_name("geglu|geglu_erf|swiglu");
  } else if (flags.workload == "linear") {
    size("--batch", flags.batch, "Rows of x (1024)");
    size("--in-dim,--in_dim", flags.in_dim, "Input features (32, or from --weights)");
    size("--out-dim,--out_dim", flags.out_dim, "Output features (64, or from --weights)");
    verb.add("--no-bias,--no_bias", flags.no_bias, "Omit the bias");
  } else {
    size("--size", flags.size, "Rows and columns of the three matrices (1024)");
    size("--rows", flags.rows, "Rows of x and b (--size)");
    size("--cols", flags.cols, "Columns of w and b (--size)");
    verb.add("--bias", flags.bias, "b is a vector of length --cols, as in a Linear");
    verb.add("--layout", flags.layout, "Layout of w; tn is transposed, as in Linear (nn)")
        .value_name("nn|tn");
  }
}

void add_compile(Command& verb, RunFlags& flags) {
  verb.add("--compile", flags.compile, "Capture, fuse and run generated code");
  verb.add("--fuse", flags.fuse, "How much is fused (epilogue)")
      .value_name("none|pointwise|epilogue");
  verb.add("--dynamic", flags.dynamic, "Compile once for every batch size (on)")
      .value_name("on|off");
  verb.add("--graph", flags.graph, "On a GPU: replay the launches as a CUDA graph");
  verb.add("--show", flags.show, "Print the compiler's output")
      .value_name("graph|passes|code|plan");
  verb.add("--kernel", flags.kernel, "With --show code: this kernel alone")
      .value_name("NAME")
      .not_empty("the name of a kernel is needed");
}

void add_kernels(Command& verb, RunFlags& flags) {
  verb.add("--kernels", flags.kernels, "Prebuilt kernels, such as epilogue/glu@1")
      .value_name("NAME@V")
      .not_empty("a package is needed: epilogue/glu@1");
  add_hub_options(verb, flags.hub);
}

void add_recording(Command& verb, RunFlags& flags) {
  verb.add("--trace", flags.trace, "Write a trace (.json, .json.gz, .json.zst)")
      .value_name("FILE")
      .not_empty("a file is needed");
  verb.add("--force", flags.force, "With --trace: replace files of other programs");
  verb.add("--steps", flags.steps, "wait,warmup,active forwards of the trace (1,1,3)")
      .value_name("N,N,N")
      .not_empty("three numbers are needed, wait,warmup,active");
  verb.add("--table", flags.table, "Print the profiler's table");
}

void add_workload(Command& run_verb, const std::string& name, const std::string& help,
                  const std::string& example) {
  auto flags = std::make_shared<RunFlags>();
  flags->workload = name;
  Command& verb = run_verb.subcommand(name, help + "\nExample: " + example);
  add_sizes(verb, *flags);
  if (name != "matmul-add") {
    add_weight_options(verb, *flags);
    add_int8_options(verb, *flags);
  }
  verb.add("--dtype", flags->dtype, "Data type (CPU: f32, CUDA: bf16)").value_name("f32|bf16|f16");
  verb.add("--device", flags->device, "Where it runs (auto)").value_name("auto|cpu|cuda");
  verb.add("--warmup", flags->warmup, "Warm-up forwards before measuring (3)").value_name("N");
  add_compile(verb, *flags);
  if (name == "mlp") add_kernels(verb, *flags);
  if (name != "matmul-add") {
    verb.add("--like", flags->like, "Run the block of a trace here, in every mode")
        .value_name("TRACE[:ANNOTATION]")
        .not_empty("a trace is needed");
  }
  add_recording(verb, *flags);
  const verbs::Option& json = verb.add("--json", flags->json, "One JSON object on standard output");
  verb.add("--md", flags->markdown, "Tables as Markdown").excludes(json);
  verb.run([flags] { return run(*flags); });
}

}  // namespace

void add_int8_options(Command& verb, RunFlags& flags) {
  verb.add("--int8", flags.int8, "Quantize the weights: a scale per 32 weights, or per row (CPU)")
      .value_name("groups|rows")
      .not_empty("must be one of groups, rows");
  verb.add("--float-input", flags.float_input, "With int8 weights: do not quantize the input");
}

void add_weight_options(Command& verb, RunFlags& flags) {
  verb.add("--weights", flags.weights, "A .safetensors file, its index, or a folder")
      .value_name("FILE")
      .not_empty("a file or a folder is needed");
  verb.add("--prefix", flags.prefix, "Prefix of the tensor names").value_name("TEXT");
}

void add_run(Command& verb) {
  verb.footer(
      "A size may be a list, and each value is run: --batch 64,96,128\n"
      "Weights: epilogue run mlp --weights F --prefix model.layers.0.mlp.");
  add_workload(verb, "linear", "y = x @ w.t() + b: one kernel", "epilogue run linear --in-dim 512");
  add_workload(verb, "mlp", "down(gelu(gate(x)) * up(x)): five kernels",
               "epilogue run mlp --batch 4 --dtype bf16");
  add_workload(verb, "matmul-add", "add(matmul(x, w), b): two kernels",
               "epilogue run matmul-add --size 64,4096");
}

}  // namespace epi::cli
