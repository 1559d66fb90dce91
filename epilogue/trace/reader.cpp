// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/reader.h"

#include <algorithm>

#include "epilogue/base/result.h"
#include "epilogue/trace/begin_end.h"
#include "epilogue/trace/input_text.h"
#include "epilogue/trace/legacy_events.h"
#include "epilogue/trace/number_text.h"
#include "epilogue/trace/overlap.h"
#include "epilogue/trace/tolerant_cursor.h"
#include "epilogue/trace/tolerant_parser.h"
#include "epilogue/trace/windows.h"

namespace epi::trace {
namespace {

Result<Trace> read_input(const InputText& input, const std::string& name, const Defects& defects,
                         ReadProgress* progress = nullptr) {
  const std::string_view text = input.text;
  if (progress != nullptr) progress->total_bytes += static_cast<int64_t>(text.size());
  if (text.find_first_not_of(" \n\t\r") == std::string_view::npos) {
    return failure("{}: {}", name,
                   defects.empty()
                       ? "the file is empty, expected a JSON trace"
                       : "the compressed data is corrupt: nothing could be decompressed");
  }
  Head head = parse_head(text);
  if (!head.is_json) return failure("{}: byte 0: not a trace: expected {{ or [", name);
  if (head.too_deep_at != std::string_view::npos) {
    return failure("{}: byte {}: nested deeper than {} levels", name, head.too_deep_at,
                   kMaxNesting);
  }
  if (head.events_begin == std::string_view::npos) {
    return failure("{}: not a trace: it has no \"traceEvents\"{}", name,
                   head.complete ? "" : " before its JSON breaks off");
  }
  ParsedEvents events =
      parse_in_windows({text.substr(head.events_begin), head.events_begin, input.fd, progress});
  if (is_cancelled(progress)) return failure("{}: cancelled", name);
  Trace trace = std::move(events.trace);
  trace.defects.add(defects);
  if (!events.list_ended) trace.defects.count(Defect::kTruncated);
  if (trace.size() == 0 && !trace.defects.empty()) {
    if (trace.defects.of(Defect::kTooDeep) > 0) {
      return failure("{}: byte {}: not a trace: nested deeper than {} levels", name,
                     trace.defects.too_deep_byte(), kMaxNesting);
    }
    return failure("{}: not a trace: no event could be read", name);
  }
  trace.properties = std::move(head.properties);
  const std::string_view tail = text.substr(head.events_begin + events.end);
  for (auto& property : parse_tail(events.list_ended ? tail : "", trace.defects)) {
    trace.properties.push_back(std::move(property));
  }
  trace.base_time_ns = parse_integer_token(trace.property("baseTimeNanoseconds")).value_or(0);
  std::erase_if(trace.properties,
                [](const auto& property) { return property.first == "baseTimeNanoseconds"; });
  trace.args_text = input.owner;
  join_begin_end(trace);
  categorize_legacy_events(trace);
  count_deep_overlap(trace);
  return trace;
}

}  // namespace

Result<Trace> read(const std::filesystem::path& path, std::optional<int64_t> max_unpacked_bytes,
                   ReadProgress* progress) {
  Defects defects;
  const auto input = open_input(
      path, defects, max_unpacked_bytes.value_or(default_max_unpacked_bytes()), progress);
  EPI_TRY(input);
  auto trace = read_input(*input, path.string(), defects, progress);
  // Checked first: the change explains every other failure.
  if (input->file->has_changed()) return failure("{}: changed while it was read", path.string());
  return trace;
}

Result<Trace> read_bytes(std::string bytes, const std::string& name,
                         std::optional<int64_t> max_unpacked_bytes, ReadProgress* progress) {
  Defects defects;
  const auto input =
      input_of_bytes(std::move(bytes), name, defects,
                     max_unpacked_bytes.value_or(default_max_unpacked_bytes()), progress);
  EPI_TRY(input);
  return read_input(*input, name, defects, progress);
}

Result<Trace> read_text(std::string_view text, const std::string& name) {
  const auto copy = std::make_shared<const std::string>(text);
  return read_input({*copy, {copy, copy->data()}, -1, nullptr}, name, {});
}

}  // namespace epi::trace
