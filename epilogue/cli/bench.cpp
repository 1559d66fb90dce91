// SPDX-License-Identifier: Apache-2.0
// `epilogue bench mlp | linear`: eager and compiled side by side on one input.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "epilogue/base/error.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/base/machine.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cli/bench_modes.h"
#include "epilogue/cli/run_report.h"
#include "epilogue/cli/verbs.h"
#include "epilogue/report/table.h"
#include "epilogue/report/units.h"

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

// Every m is checked before the first one runs.
std::vector<BenchRun> plan_all(const BenchFlags& flags, Device device) {
  std::vector<BenchRun> runs;
  for (const int64_t m : positive_numbers("--m", flags.m)) {
    auto sizes = expand_sizes(flags.run);
    if (sizes.size() != 1) fail("bench", "only --m may be a list");
    sizes[0].batch = m;
    sizes[0].seq = 1;
    auto workload = plan_workload(flags.run, sizes[0], device);
    if (!workload) throw Error(workload.error().message);
    runs.push_back({m, std::move(*workload)});
  }
  return runs;
}

report::Table mode_table(const BenchRun& run) {
  using report::Align;
  report::Table table({{"mode", Align::kLeft},
                       {"kernels", Align::kRight},
                       {"moved", Align::kRight},
                       {"time", Align::kRight},
                       {"ratio", Align::kRight},
                       {"of peak", Align::kRight},
                       {"1st call", Align::kRight},
                       {"paid", Align::kRight}});
  const ModeResult& eager = run.modes[0];
  for (const ModeResult& mode : run.modes) {
    const bool is_eager = &mode == &eager;
    const auto paid = pays_back_after(mode, eager);
    table.add_row({mode.mode, fmt::format("{}", mode.kernels),
                   report::bytes_text(static_cast<double>(mode.bytes)),
                   report::time_text(mode.time_ns.median), fmt::format("{:.3f}", mode.ratio.median),
                   fmt::format("{:.0f} %", 100 * share_of_peak(mode, run.peaks)),
                   is_eager ? "-" : report::time_text(mode.first_call_ns),
                   is_eager ? "-"
                   : paid   ? fmt::format("{}", *paid)
                            : "never"});
  }
  return table;
}

// "pointwise 0.98 (0.95 to 1.02)": a ratio without its spread says little.
std::string spread_text(const BenchRun& run) {
  if (run.modes.size() == 1) {
    const Spread& time = run.modes[0].time_ns;
    return fmt::format("  time, tenth to ninetieth of 100: {} to {}\n", report::time_text(time.p10),
                       report::time_text(time.p90));
  }
  std::string out = "  ratios, tenth to ninetieth of 100:";
  for (size_t i = 1; i < run.modes.size(); ++i) {
    out += fmt::format(" {} {:.3f} to {:.3f}{}", run.modes[i].mode, run.modes[i].ratio.p10,
                       run.modes[i].ratio.p90, i + 1 < run.modes.size() ? "," : "\n");
  }
  return out;
}

void print_run(const BenchRun& run, bool markdown) {
  const report::Table table = mode_table(run);
  fmt::print("\n{}\npeaks, measured now: {:.0f} GFLOP/s of {} products, {:.1f} GB/s of {}\n\n",
             run.workload.title, run.peaks.flops_per_ns, name(run.workload.dtype),
             run.peaks.bytes_per_ns, run.workload.device == kCpu ? "reading" : "copying");
  fmt::print("{}{}{}", markdown ? table.markdown() : table.text(), markdown ? "\n" : "",
             spread_text(run));
}

void spread_json(JsonWriter& json, const char* name, const Spread& spread, double scale) {
  json.key(name).fixed(spread.median * scale, 3);
  json.key(fmt::format("{}_p10", name)).fixed(spread.p10 * scale, 3);
  json.key(fmt::format("{}_p90", name)).fixed(spread.p90 * scale, 3);
}

void mode_json(JsonWriter& json, const ModeResult& mode, const ModeResult& eager,
               const Peaks& peaks) {
  const bool is_eager = &mode == &eager;
  json.begin_object();
  json.key("mode").string(mode.mode);
  json.key("kernels_per_forward").integer(mode.kernels);
  json.key("bytes_per_forward").integer(mode.bytes);
  json.key("flops_per_forward").integer(mode.flops);
  spread_json(json, "us_per_forward", mode.time_ns, 1e-3);
  spread_json(json, "ratio_to_eager", mode.ratio, 1);
  json.key("share_of_peak").fixed(share_of_peak(mode, peaks), 3);
  json.key("first_call_us");
  is_eager ? json.null() : json.fixed(mode.first_call_ns / 1000, 3);
  json.key("pays_back_after");
  const auto paid = pays_back_after(mode, eager);
  is_eager || !paid ? json.null() : json.integer(*paid);
  json.end_object();
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
  json.key("runs").begin_array();
  for (const BenchRun& run : runs) {
    json.begin_object();
    json.key("m").integer(run.m);
    json.key("title").string(run.workload.title);
    json.key("peak_gflops").fixed(run.peaks.flops_per_ns, 3);
    json.key("peak_gbps").fixed(run.peaks.bytes_per_ns, 3);
    json.key("modes").begin_array();
    for (const ModeResult& mode : run.modes) mode_json(json, mode, run.modes[0], run.peaks);
    json.end_array();
    json.end_object();
  }
  json.end_array().end_object();
  fmt::print("{}\n", json.text());
}

int bench(const BenchFlags& flags) {
  parse_dtype(flags.run.dtype);
  const Device device = choose_device(flags.run);
  std::vector<BenchRun> runs = plan_all(flags, device);
  if (!flags.run.json) fmt::print("{} on {}\n", flags.run.workload, device_text(device));
  for (BenchRun& run : runs) {
    run.modes = measure_modes(run.workload);
    run.peaks = measure_peaks(device, run.workload.dtype, run.modes[0].bytes);
    if (!flags.run.json) print_run(run, flags.run.markdown);
  }
  if (flags.run.json) print_json(flags, runs);
  return 0;
}

void add_block(CLI::App& bench_app, Action& action, const std::string& name,
               const std::string& help) {
  auto flags = std::make_shared<BenchFlags>();
  flags->run.workload = name;
  CLI::App* verb =
      bench_app.add_subcommand(name, help + "\nExample: epilogue bench " + name + " --m 1,512");
  verb->add_option("--m", flags->m, "Rows of x, each is measured (1,16,512)")
      ->type_name("N[,N...]");
  const auto size = [&](const char* names, std::string& value, const char* text) {
    verb->add_option(names, value, text)->type_name("N");
  };
  if (name == "mlp") {
    size("--dim", flags->run.dim, "Width of x (768, or the weights')");
    size("--hidden", flags->run.hidden, "Width between (3072, or the weights')");
    verb->add_option("--activation", flags->run.activation, "geglu, geglu_erf or swiglu")
        ->type_name("NAME");
  } else {
    size("--in-dim,--in_dim", flags->run.in_dim, "Inputs (32, or the weights')");
    size("--out-dim,--out_dim", flags->run.out_dim, "Outputs (64, or the weights')");
  }
  verb->add_option("--dtype", flags->run.dtype, "f32 (the CPU's default), bf16 (CUDA's) or f16")
      ->type_name("NAME");
  verb->add_option("--device", flags->run.device, "auto, cpu or cuda")->type_name("NAME");
  add_weight_options(*verb, flags->run);
  CLI::Option* json =
      verb->add_flag("--json", flags->run.json, "One JSON object on standard output");
  verb->add_flag("--md", flags->run.markdown, "Tables as Markdown")->excludes(json);
  verb->callback([flags, &action] { action = [flags] { return bench(*flags); }; });
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("bench", "Eager and compiled side by side on one input");
  verb->require_subcommand(1);
  verb->footer(
      "Modes take turns; \"ratio\" is the median of the turns' ratios to eager. \"of\n"
      "peak\" is the least time that the products or the bytes can take over the\n"
      "time; \"1st call\" is what compiling adds, without the cache; \"paid\" is after\n"
      "how many forwards that is made up for.");
  add_block(*verb, action, "mlp", "down(gelu(gate(x)) * up(x))");
  add_block(*verb, action, "linear", "y = x @ w.t() + b");
}

}  // namespace epi::cli
