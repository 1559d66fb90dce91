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

// Most traces start with less text before their list of events.
constexpr size_t kHeadBytes = size_t{1} << 16;

// Parses the text up to its list of events, without waiting for the rest.
Head read_head(const InputText& input, const ReadProgress* progress) {
  for (size_t bytes = kHeadBytes;; bytes *= 2) {
    const size_t size = input.wait_for(bytes);
    Head head = parse_head({input.data(), size});
    // A malformed value may be examined beyond the start of the list.
    const bool is_certain = head.examined < size;
    const bool has_list = head.events_begin != std::string_view::npos;
    if ((has_list || head.complete) && is_certain) return head;
    if (size < bytes || is_cancelled(progress)) return head;
  }
}

Result<Trace> read_input(const InputText& input, const std::string& name,
                         ReadProgress* progress = nullptr) {
  Head head = read_head(input, progress);
  ParsedEvents events;
  if (head.events_begin != std::string_view::npos) {
    events = parse_in_windows(input, head.events_begin, progress);
  }
  if (is_cancelled(progress)) return failure("{}: cancelled", name);
  Defects defects;  // of the compressed data
  const auto whole = input.whole(defects);
  EPI_TRY(whole);
  const std::string_view text = *whole;
  if (text.find_first_not_of(" \n\t\r") == std::string_view::npos) {
    return failure("{}: {}", name,
                   defects.empty()
                       ? "the file is empty, expected a JSON trace"
                       : "the compressed data is corrupt: nothing could be decompressed");
  }
  if (!head.is_json) return failure("{}: byte 0: not a trace: expected {{ or [", name);
  if (head.too_deep_at != std::string_view::npos) {
    return failure("{}: byte {}: nested deeper than {} levels", name, head.too_deep_at,
                   kMaxNesting);
  }
  if (head.events_begin == std::string_view::npos) {
    return failure("{}: not a trace: it has no \"traceEvents\"{}", name,
                   head.complete ? "" : " before its JSON breaks off");
  }
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
  trace.args_text = input.owner();
  join_begin_end(trace);
  categorize_legacy_events(trace);
  count_deep_overlap(trace);
  return trace;
}

}  // namespace

Result<Trace> read(const std::filesystem::path& path, std::optional<int64_t> max_unpacked_bytes,
                   ReadProgress* progress) {
  const auto input = open_input(path, max_unpacked_bytes.value_or(default_max_unpacked_bytes()));
  EPI_TRY(input);
  auto trace = read_input(*input, path.string(), progress);
  // Checked first: the change explains every other failure.
  if (input->has_changed()) return failure("{}: changed while it was read", path.string());
  return trace;
}

Result<Trace> read_bytes(std::string bytes, const std::string& name,
                         std::optional<int64_t> max_unpacked_bytes, ReadProgress* progress) {
  const auto input = input_of_bytes(std::move(bytes), name,
                                    max_unpacked_bytes.value_or(default_max_unpacked_bytes()));
  EPI_TRY(input);
  return read_input(*input, name, progress);
}

}  // namespace epi::trace
