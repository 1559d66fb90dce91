// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/base/parse_integer.h"
#include "epilogue/cli/run/workload.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/cuda_backend.h"

namespace epi::cli {
namespace {

constexpr int64_t kMaxNumber = int64_t{1} << 62;

int64_t parse_number(const std::string& flag, const std::string& text, int64_t smallest) {
  bool overflows = false;
  const auto value = parse_integer(text, &overflows);
  if (overflows || (value && *value > kMaxNumber)) {
    fail("run", "{} {}: the number is too large", flag, text);
  }
  if (!value) fail("run", "{} \"{}\": not a whole number", flag, text);
  if (*value < smallest) fail("run", "{} {}: must be at least {}", flag, text, smallest);
  return *value;
}

// Per phase of the schedule. A recording keeps every operator of its steps in memory.
constexpr int64_t kMaxSteps = 1'000'000;

using FlagText = std::string RunFlags::*;
using SizeValue = std::optional<int64_t> RunSizes::*;
struct SizeFlag {
  const char* flag;
  FlagText text;
  SizeValue value;
};
constexpr auto kSizeFlags = std::to_array<SizeFlag>({
    {"--batch", &RunFlags::batch, &RunSizes::batch},
    {"--seq", &RunFlags::seq, &RunSizes::seq},
    {"--dim", &RunFlags::dim, &RunSizes::dim},
    {"--hidden", &RunFlags::hidden, &RunSizes::hidden},
    {"--in-dim", &RunFlags::in_dim, &RunSizes::in_dim},
    {"--out-dim", &RunFlags::out_dim, &RunSizes::out_dim},
    {"--size", &RunFlags::size, &RunSizes::size},
    {"--rows", &RunFlags::rows, &RunSizes::rows},
    {"--cols", &RunFlags::cols, &RunSizes::cols},
});

using Values = std::vector<std::optional<int64_t>>;

// A single nullopt if the flag was not given.
Values list_of(const std::string& flag, const std::string& text) {
  if (text.empty()) return {std::nullopt};
  const auto numbers = positive_numbers(flag, text);
  return {numbers.begin(), numbers.end()};
}

}  // namespace

int64_t positive_number(const std::string& flag, const std::string& text) {
  return parse_number(flag, text, 1);
}

std::vector<int64_t> positive_numbers(const std::string& flag, const std::string& text) {
  std::vector<int64_t> values;
  std::string item;
  // The appended comma makes getline return an empty last item for "64,", which is then rejected.
  for (std::istringstream stream(text + ","); std::getline(stream, item, ',');) {
    const int64_t value = positive_number(flag, item);
    if (std::find(values.begin(), values.end(), value) != values.end()) {
      fail("run", "{} {}: {} appears twice", flag, text, value);
    }
    values.push_back(value);
  }
  return values;
}

int64_t parse_count(const std::string& flag, const std::string& text) {
  return parse_number(flag, text, 0);
}

std::vector<RunSizes> expand_sizes(const RunFlags& flags) {
  std::vector<RunSizes> runs(1);
  for (const SizeFlag& size : kSizeFlags) {
    std::vector<RunSizes> next;
    for (const RunSizes& run : runs) {
      for (const auto& value : list_of(size.flag, flags.*size.text)) {
        next.push_back(run);
        next.back().*size.value = value;
      }
    }
    runs = std::move(next);
  }
  return runs;
}

std::string list_label(const RunFlags& flags, const RunSizes& sizes) {
  std::string label;
  for (const SizeFlag& size : kSizeFlags) {
    if ((flags.*size.text).find(',') == std::string::npos) continue;
    label += fmt::format("{}{}{}", label.empty() ? "" : "_", size.flag + 2,
                         (sizes.*size.value).value_or(0));
  }
  return label;
}

profile::Schedule parse_steps(const RunFlags& flags) {
  if (flags.steps.empty()) {
    const bool shown = flags.table || !flags.trace.empty();
    return shown ? profile::Schedule{1, 1, 3} : profile::Schedule{0, 0, 1};
  }
  std::vector<int64_t> numbers;
  std::string item;
  for (std::istringstream stream(flags.steps + ","); std::getline(stream, item, ',');) {
    numbers.push_back(parse_count("--steps", item));
  }
  if (numbers.size() != 3) {
    fail("run", "--steps {}: three numbers are needed, wait,warmup,active", flags.steps);
  }
  if (numbers[2] == 0) fail("run", "--steps {}: at least one step must be active", flags.steps);
  for (const int64_t number : numbers) {
    if (number > kMaxSteps) fail("run", "--steps {}: the number is too large", flags.steps);
  }
  return {numbers[0], numbers[1], numbers[2]};
}

std::optional<DType> parse_dtype(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto dtype = dtype_from_name(text);
  if (dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16) return dtype;
  fail("run", "--dtype {}: must be f32, bf16 or f16", text);
}

std::optional<CompileOptions> parse_compile(const RunFlags& flags) {
  const auto check = [](const char* flag, const std::string& text,
                        std::initializer_list<const char*> words) {
    if (text.empty() || std::find(words.begin(), words.end(), text) != words.end()) return;
    fail("run", "{} {}: must be one of {}", flag, text, join(words, ", "));
  };
  check("--fuse", flags.fuse, {"none", "pointwise", "epilogue"});
  check("--dynamic", flags.dynamic, {"on", "off"});
  check("--show", flags.show, {"graph", "passes", "code", "plan"});
  CompileOptions options;
  if (flags.fuse == "none") options.fuse = Fuse::kNone;
  if (flags.fuse == "pointwise") options.fuse = Fuse::kPointwise;
  options.dynamic = flags.dynamic != "off";
  for (const auto& [flag, text] :
       {std::pair{"--fuse", flags.fuse}, {"--dynamic", flags.dynamic}, {"--show", flags.show}}) {
    if (!flags.compile && !text.empty()) fail("run", "{} {}: needs --compile", flag, text);
  }
  if (flags.show != "code" && !flags.kernel.empty()) {
    fail("run", "--kernel {}: needs --show code", flags.kernel);
  }
  if (!flags.compile && flags.graph) fail("run", "--graph: needs --compile");
  const bool has_hub_flags = !flags.hub.sources.empty() || !flags.hub.trust.empty() ||
                             !flags.hub.keyrings.empty() || !flags.hub.lock.empty();
  if (flags.kernels.empty() && has_hub_flags) {
    fail("run", "--source, --trust, --keyring and --lock need --kernels");
  }
  if (flags.compile && !flags.kernels.empty()) {
    fail("run", "--kernels {}: prebuilt kernels cannot be combined with --compile", flags.kernels);
  }
  if (!flags.compile) return std::nullopt;
  options.graph = flags.graph;
  options.name = flags.workload;
  return options;
}

Device choose_device(const RunFlags& flags) {
  const std::string& text = flags.device;
  register_cpu_backend();
  if (text == "cpu" && flags.graph) fail("run", "--graph: replays launches on a GPU, not the CPU");
  if (text == "cpu") return kCpu;
  if (text != "auto" && text != "cuda") {
    fail("run", "--device {}: must be auto, cpu or cuda", text);
  }
  if (text == "auto" && has_int8_weights(flags)) {
    if (flags.graph) fail("run", "--graph: needs a GPU, and int8 weights run on the CPU only");
    return kCpu;
  }
  const auto ready = register_cuda_backend();
  if (!ready && text == "cuda") fail("run", "--device cuda: {}", ready.error().message);
  if (!ready && flags.graph) fail("run", "--graph: needs a GPU: {}", ready.error().message);
  return ready ? kCuda : kCpu;
}

DType default_dtype(Device device) { return device == kCpu ? DType::kF32 : DType::kBF16; }

}  // namespace epi::cli
