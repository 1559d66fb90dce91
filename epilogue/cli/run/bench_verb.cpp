// SPDX-License-Identifier: Apache-2.0
// `epilogue bench mlp | linear`: eager, compiled and prebuilt modes side by side on one input.
#include <memory>

#include "epilogue/base/error.h"
#include "epilogue/base/exit_codes.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/base/machine.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cli/command.h"
#include "epilogue/cli/output.h"
#include "epilogue/cli/run/bench_modes.h"
#include "epilogue/cli/run/bench_report.h"
#include "epilogue/cli/run/run_report.h"
#include "epilogue/report/text/units.h"

namespace epi::cli {
namespace {

struct BenchFlags {
  RunFlags run;  // sizes, dtype and weights, as for `run`
  std::string m = "1,16,512";
};

struct BenchRun {
  int64_t m = 0;
  Workload workload;
  std::vector<ModeResult> modes{};
  Peaks peaks{};
};

// Checks every m before the first one runs.
std::vector<BenchRun> plan_all(const BenchFlags& flags, Device device) {
  std::vector<BenchRun> runs;
  for (const int64_t m : positive_numbers("--m", flags.m)) {
    auto sizes = expand_sizes(flags.run);
    if (sizes.size() != 1) fail("bench", "only --m may be a list");
    sizes[0].batch = m;
    sizes[0].seq = 1;
    auto workload = plan_workload(flags.run, sizes[0], device);
    throw_if_failed(workload);
    runs.push_back({m, std::move(*workload)});
  }
  return runs;
}

void print_run(const BenchRun& run, bool markdown) {
  const report::Table table = mode_table(run.modes, run.peaks);
  print_out("\n{}\nmeasured peaks: {}/s ({} GEMM), {}/s ({})\n\n", run.workload.title,
            report::flops_text(1e9 * run.peaks.flops_per_ns), name(run.workload.gemm_dtype),
            report::bytes_text(1e9 * run.peaks.bytes_per_ns),
            run.workload.device == kCpu ? "read" : "copy");
  print_out("{}{}{}", markdown ? table.markdown() : table.text(), markdown ? "\n" : "",
            spread_text(run.modes));
}

void print_json(const BenchFlags& flags, const std::vector<BenchRun>& runs) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1);
  json.key("workload").string(flags.run.workload);
  json.key("device").string(runs[0].workload.device == kCpu ? "cpu" : "cuda");
  json.key("on").string(device_text(runs[0].workload.device));
  json.key("cpu").string(cpu_name());
  json.key("threads").integer(num_threads());
  json.key("dtype").string(name(runs[0].workload.dtype));
  json.key("gemm_dtype").string(name(runs[0].workload.gemm_dtype));
  json.key("runs").begin_array();
  for (const BenchRun& run : runs) {
    json.begin_object();
    json.key("m").integer(run.m);
    json.key("title").string(run.workload.title);
    json.key("peak_gflops").fixed(run.peaks.flops_per_ns, 3);
    json.key("peak_gbps").fixed(run.peaks.bytes_per_ns, 3);
    modes_json(json, run.modes, run.peaks);
    json.end_object();
  }
  json.end_array().end_object();
  print_out("{}\n", json.text());
}

int bench(const BenchFlags& flags) {
  parse_dtype(flags.run.dtype);
  const Device device = choose_device(flags.run);
  std::vector<BenchRun> runs = plan_all(flags, device);
  if (!flags.run.json) print_out("{} on {}\n", flags.run.workload, device_text(device));
  for (BenchRun& run : runs) {
    run.modes = measure_modes(run.workload);
    run.peaks = measure_peaks(device, run.workload.gemm_dtype, run.modes[0].bytes);
    if (!flags.run.json) print_run(run, flags.run.markdown);
  }
  if (flags.run.json) {
    print_json(flags, runs);
  } else {
    print_out("\n{}\n", mode_table_legend());
  }
  return kDone;
}

void add_block(Command& bench_verb, const std::string& name, const std::string& help) {
  auto flags = std::make_shared<BenchFlags>();
  flags->run.workload = name;
  Command& verb =
      bench_verb.subcommand(name, help + "\nExample: epilogue bench " + name + " --m 1,512");
  verb.add("--m", flags->m, "Rows of x; each value is measured (1,16,512)").value_name("N[,N...]");
  const auto size = [&](const char* names, std::string& value, const char* text) {
    verb.add(names, value, text).value_name("N");
  };
  if (name == "mlp") {
    size("--dim", flags->run.dim, "Width of x (768, or from --weights)");
    size("--hidden", flags->run.hidden, "Hidden width (3072, or from --weights)");
    verb.add("--activation", flags->run.activation,
             "Activation: tanh GELU, erf GELU, or SiLU (geglu)")
        .value_name("geglu|geglu_erf|swiglu");
  } else {
    size("--in-dim,--in_dim", flags->run.in_dim, "Input features (32, or from --weights)");
    size("--out-dim,--out_dim", flags->run.out_dim, "Output features (64, or from --weights)");
  }
  verb.add("--dtype", flags->run.dtype, "Data type (CPU: f32, CUDA: bf16)")
      .value_name("f32|bf16|f16");
  verb.add("--device", flags->run.device, "Where it runs (auto)").value_name("auto|cpu|cuda");
  add_weight_options(verb, flags->run);
  add_int8_options(verb, flags->run);
  const verbs::Option& json =
      verb.add("--json", flags->run.json, "One JSON object on standard output");
  verb.add("--md", flags->run.markdown, "Tables as Markdown").excludes(json);
  verb.run([flags] { return bench(*flags); });
}

}  // namespace

void add_bench(Command& verb) {
  verb.footer("The modes run in interleaved rounds, so that noise affects all of them alike.\n" +
              mode_table_legend());
  add_block(verb, "mlp", "down(gelu(gate(x)) * up(x))");
  add_block(verb, "linear", "y = x @ w.t() + b");
}

}  // namespace epi::cli
