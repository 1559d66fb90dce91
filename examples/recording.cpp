// SPDX-License-Identifier: Apache-2.0
#include "recording.h"

#include <algorithm>
#include <cstdio>

#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/base/error.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/cuda_backend.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/report/tables/table_text.h"
#include "epilogue/trace/writer.h"

namespace example {
namespace {

std::string with_dashes(std::string text) {
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

int64_t number(const std::string& flag, const std::string& text, int64_t minimum) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < minimum) {
    throw epi::Error(fmt::format("{} {}: must be an integer of at least {}", flag, text, minimum));
  }
  return value;
}

epi::profile::Schedule schedule_of(const std::string& text) {
  const size_t first = text.find(',');
  const size_t second = first == text.npos ? text.npos : text.find(',', first + 1);
  if (second == text.npos) {
    throw epi::Error(fmt::format("--steps {}: needs three numbers, wait,warmup,active", text));
  }
  return {number("--steps", text.substr(0, first), 0),
          number("--steps", text.substr(first + 1, second - first - 1), 0),
          number("--steps", text.substr(second + 1), 1)};
}

epi::Device device_of(const std::string& text) {
  epi::register_cpu_backend();
  if (text == "cpu") return epi::kCpu;
  if (text != "auto" && text != "cuda") {
    throw epi::Error(fmt::format("--device {}: must be auto, cpu or cuda", text));
  }
  const auto ready = epi::register_cuda_backend();
  if (!ready && text == "cuda") throw epi::Error("--device cuda: " + ready.error().message);
  return ready ? epi::kCuda : epi::kCpu;
}

epi::DType dtype_of(const std::string& text, epi::Device device) {
  if (text.empty()) return device == epi::kCpu ? epi::DType::kF32 : epi::DType::kBF16;
  const auto dtype = epi::dtype_from_name(text);
  if (!dtype || !epi::is_floating(*dtype)) {
    throw epi::Error(fmt::format("--dtype {}: must be f32, bf16 or f16", text));
  }
  return *dtype;
}

// "mlp.txt" for "mlp.json.gz", in the same folder.
std::string table_path(const std::string& trace) {
  return trace.substr(0, trace.find(".json", trace.find_last_of('/') + 1)) + ".txt";
}

}  // namespace

Flags::Flags(int argc, char** argv, std::string_view about) : help_(fmt::format("{}\n\n", about)) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = with_dashes(argv[i]);
    if (!word.starts_with("--")) throw epi::Error(fmt::format("{}: expected a flag", argv[i]));
    const bool has_value = i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("--");
    given_[word] = has_value ? std::optional<std::string>(argv[++i]) : std::nullopt;
  }
  help_requested_ = given_.erase("--help") > 0;
}

void Flags::add_help(const std::string& flag, const std::string& default_value,
                     std::string_view help) {
  help_ += fmt::format("  {:<14}{}{}\n", flag, help,
                       default_value.empty() ? "" : fmt::format(" ({})", default_value));
}

bool Flags::has(const std::string& flag, std::string_view help) {
  add_help(flag, "", help);
  const auto found = given_.find(flag);
  if (found == given_.end()) return false;
  if (found->second) throw epi::Error(fmt::format("{} {}: takes no value", flag, *found->second));
  given_.erase(found);
  return true;
}

std::string Flags::text(const std::string& flag, const std::string& default_value,
                        std::string_view help) {
  add_help(flag, default_value, help);
  const auto found = given_.find(flag);
  if (found == given_.end()) return default_value;
  if (!found->second) throw epi::Error(fmt::format("{}: needs a value", flag));
  std::string value = *found->second;
  given_.erase(found);
  return value;
}

int64_t Flags::size(const std::string& flag, int64_t default_value, std::string_view help) {
  return number(flag, text(flag, fmt::format("{}", default_value), help), 1);
}

bool Flags::done() {
  if (help_requested_) {
    fmt::print("{}", help_);
    return false;
  }
  if (given_.empty()) return true;
  throw epi::Error(fmt::format("{}: unknown flag, see --help", given_.begin()->first));
}

Recording recording_flags(Flags& flags) {
  Recording recording;
  recording.device = device_of(flags.text("--device", "auto", "auto, cpu or cuda"));
  recording.dtype = dtype_of(
      flags.text("--dtype", "", "f32 (CPU default), bf16 (CUDA default) or f16"), recording.device);
  recording.schedule = schedule_of(flags.text("--steps", "1,1,3", "wait,warmup,active"));
  recording.warmup = flags.size("--warmup", 3, "Forwards before recording starts");
  recording.trace = flags.text("--trace", "", "Write the trace and, beside it, its table");
  return recording;
}

Compile compile_flags(Flags& flags, const std::string& name) {
  Compile compile;
  compile.compile = flags.has("--compile", "Use epi::compile");
  const std::string requested =
      flags.text("--fuse", "", "none, pointwise or epilogue (the default)");
  if (!requested.empty() && !compile.compile) {
    throw epi::Error(fmt::format("--fuse {}: needs --compile", requested));
  }
  const std::string fuse = requested.empty() ? "epilogue" : requested;
  if (fuse != "none" && fuse != "pointwise" && fuse != "epilogue") {
    throw epi::Error(fmt::format("--fuse {}: must be none, pointwise or epilogue", fuse));
  }
  compile.options.fuse = fuse == "none"        ? epi::Fuse::kNone
                         : fuse == "pointwise" ? epi::Fuse::kPointwise
                                               : epi::Fuse::kEpilogue;
  compile.options.name = name;
  return compile;
}

void record(const std::string& annotation, const std::function<void()>& forward,
            const Recording& recording) {
  for (int64_t i = 0; i < recording.warmup; ++i) forward();
  const epi::profile::Schedule& steps = recording.schedule;
  epi::profile::Profiler profiler({.record_shapes = true, .schedule = steps});
  for (int64_t i = 0; i < steps.wait + steps.warmup + steps.active; ++i) {
    {
      const epi::RecordFunction range(annotation);
      forward();
    }
    profiler.step();
  }
  const epi::trace::Trace& trace = profiler.trace();
  auto rows = epi::analysis::profiler_table(trace);
  epi::analysis::sort_rows(rows, "cuda_time_total");
  const std::string table = epi::report::table_text(rows, {});
  fmt::print("{}", table);
  if (recording.trace.empty()) return;
  if (const auto written = epi::trace::write(trace, recording.trace); !written) {
    throw epi::Error(written.error().message);
  }
  if (std::FILE* file = std::fopen(table_path(recording.trace).c_str(), "w")) {
    fmt::print(file, "{}", table);
    std::fclose(file);
  }
  fmt::print(stderr, "{}\n", recording.trace);
}

int run(const std::function<void()>& program) {
  try {
    program();
  } catch (const epi::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}

}  // namespace example
