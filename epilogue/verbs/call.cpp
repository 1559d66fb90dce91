// SPDX-License-Identifier: Apache-2.0
#include "epilogue/verbs/call.h"

#include <algorithm>
#include <iterator>

#include "epilogue/base/error.h"
#include "epilogue/base/parse_integer.h"

namespace epi::verbs {
std::optional<int> parse_schema(const std::string& text) {
  const auto schema = parse_integer(text);
  if (!schema || *schema < 1 || *schema > report::kSchema) return std::nullopt;
  return static_cast<int>(*schema);
}

Call::Call(CallOptions options, std::shared_ptr<const analysis::NameRules> names)
    : options_(std::move(options)), names_(std::move(names)), in_use_(names_) {}

std::vector<TraceInput> Call::read(const std::vector<TraceSource>& sources) {
  const auto paths = paths_of(sources);
  if (paths.size() == sources.size()) return read_files(paths);
  std::vector<TraceInput> inputs;
  for (const TraceSource& source : sources) {
    auto found = source.open ? source.open->inputs : read_files({source.path});
    std::move(found.begin(), found.end(), std::back_inserter(inputs));
  }
  if (options_.reading.names_file.empty()) return inputs;
  // What is known of an open trace was found with other names.
  for (TraceInput& input : inputs) {
    input.loaded = std::make_shared<const LoadedTrace>(input.loaded->shared_trace(), names_);
  }
  return inputs;
}

void Call::read_each(const std::vector<TraceSource>& sources, const UseTrace& use,
                     const UseFailure& failed) {
  const auto paths = paths_of(sources);
  if (paths.size() == sources.size()) return read_each_file(paths, use, failed);
  for (const TraceInput& input : read(sources)) use(input);
}

}  // namespace epi::verbs
