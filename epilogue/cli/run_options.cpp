// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run_options.h"

#include <charconv>
#include <sstream>

#include "epilogue/base/error.h"

namespace epi::cli {
namespace {

constexpr int64_t kLargest = int64_t{1} << 62;

int64_t number_in(const std::string& flag, const std::string& text, int64_t smallest) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec == std::errc::result_out_of_range) {
    fail("run", "{} {}: the number is too large", flag, text);
  }
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    fail("run", "{} \"{}\": not a whole number", flag, text);
  }
  if (value < smallest) fail("run", "{} {}: must be at least {}", flag, text, smallest);
  if (value > kLargest) fail("run", "{} {}: the number is too large", flag, text);
  return value;
}

using Values = std::vector<std::optional<int64_t>>;

Values list_of(const std::string& flag, const std::string& text) {
  if (text.empty()) return {std::nullopt};
  Values values;
  std::string item;
  // A trailing comma asks for one more, empty, number: it is refused like any other empty one.
  for (std::istringstream stream(text + ","); std::getline(stream, item, ',');) {
    values.emplace_back(positive_number(flag, item));
  }
  return values;
}

}  // namespace

int64_t positive_number(const std::string& flag, const std::string& text) {
  return number_in(flag, text, 1);
}

int64_t whole_number(const std::string& flag, const std::string& text) {
  return number_in(flag, text, 0);
}

std::vector<RunSizes> expand_sizes(const RunFlags& flags) {
  std::vector<RunSizes> runs(1);
  const auto combine = [&](const char* flag, const std::string& text,
                           std::optional<int64_t> RunSizes::* member) {
    std::vector<RunSizes> next;
    for (const RunSizes& run : runs) {
      for (const auto& value : list_of(flag, text)) {
        next.push_back(run);
        next.back().*member = value;
      }
    }
    runs = std::move(next);
  };
  combine("--batch", flags.batch, &RunSizes::batch);
  combine("--seq", flags.seq, &RunSizes::seq);
  combine("--dim", flags.dim, &RunSizes::dim);
  combine("--hidden", flags.hidden, &RunSizes::hidden);
  combine("--in-dim", flags.in_dim, &RunSizes::in_dim);
  combine("--out-dim", flags.out_dim, &RunSizes::out_dim);
  combine("--size", flags.size, &RunSizes::size);
  return runs;
}

std::optional<DType> parse_dtype(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto dtype = dtype_from_name(text);
  if (dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16) return dtype;
  fail("run", "--dtype {}: must be f32, bf16 or f16", text);
}

void check_device(const std::string& text) {
  if (text == "auto" || text == "cpu") return;
  if (text == "cuda") fail("run", "--device cuda: this version runs on the CPU only");
  fail("run", "--device {}: must be auto, cpu or cuda", text);
}

}  // namespace epi::cli
