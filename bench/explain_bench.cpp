// SPDX-License-Identifier: Apache-2.0
// The cost of decoding a kernel name on one thread. The names were launched on an H200 by known
// calls. Half of them are ATen's, hundreds of characters long.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "bench/suite.h"
#include "epilogue/analysis/names/decode.h"
#include "epilogue/analysis/names/decoded_name.h"
#include "epilogue/base/mapped_file.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/json_text.h"

namespace epi::bench {
namespace {

constexpr double kLimitNs = 1000;  // a million names per second
constexpr int kRounds = 20;

// All distinct names, in the order of the file.
std::vector<std::string> recorded_names() {
  const auto file = MappedFile::open(std::string(EPI_TEST_DATA) + "/kernel_names.json");
  std::vector<std::string> names;
  if (!file) return names;
  const auto bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const std::string_view call : trace::array_items(text)) {
    for (const std::string_view token :
         trace::array_items(trace::find_value(call, "kernels").value_or(""))) {
      std::string name;
      trace::unescape(token.substr(1, token.size() - 2), name);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

}  // namespace

void add_explain(Suite& suite) {
  const auto names = std::make_shared<std::vector<std::string>>(recorded_names());
  if (names->empty()) return;  // the source tree is not available
  const auto next = std::make_shared<size_t>(0);
  const auto decode_one = [names, next] {
    benchmark::DoNotOptimize(analysis::decode_name((*names)[*next]));
    *next = (*next + 1) % names->size();
  };
  suite.add("explain", {fmt::format("decoding one kernel name, ns (mean of {})", names->size()),
                        {"decode", decode_one},
                        {},
                        Bound::kAtMost,
                        kLimitNs,
                        static_cast<int>(names->size()) * kRounds});
}

}  // namespace epi::bench
