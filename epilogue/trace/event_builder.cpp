// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/event_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/trace/event_args.h"
#include "epilogue/trace/json_text.h"
#include "epilogue/trace/number_text.h"

namespace epi::trace {
namespace {

// Limits for plausible times, chosen so that sums fit into 64 bits: 73 years from 1970 or from the
// file's base time for timestamps, and 104 days for durations.
constexpr int64_t kMaxTimeNs = int64_t{1} << 61;
constexpr int64_t kMaxDurationNs = int64_t{1} << 53;

// Names are copied into tables and reports. Symbols of C++ templates are at most a few KiB long.
constexpr size_t kMaxNameBytes = size_t{64} << 10;

std::optional<Phase> phase_of(std::string_view text) {
  if (text.size() != 1) return std::nullopt;
  switch (text[0]) {
    case 'X':
    case 'i':
    case 'M':
    case 's':
    case 'f':
    case 'C':
    case 'B':
    case 'E':
      return static_cast<Phase>(text[0]);
    case 'I':  // the older spelling
      return Phase::kInstant;
    default:
      return std::nullopt;
  }
}

// An id from the arguments. 0 if there is none, or if another writer uses the key for something
// else.
int64_t id_arg(std::string_view args, std::string_view quoted_key) {
  const auto token = find_top_level(args, quoted_key);
  if (!token) return 0;
  return std::max<int64_t>(0, parse_integer_token(*token).value_or(0));
}

}  // namespace

void EventBuilder::add(const RawEvent& raw, uint64_t args_offset) {
  const auto phase = phase_of(raw.phase);
  if (!phase) {
    defects().count(raw.phase.empty() ? Defect::kBrokenEvent : Defect::kUnknownPhase);
    return;
  }
  Event event{.phase = *phase};
  if (!set_times(raw, event)) return;
  event.category = category_id(raw.category);
  // MTIA's device events include waits of one queue for another, which are not work.
  const bool waits = raw.category == "mtia_ccp_events" && raw.name == "event_wait";
  if (waits) event.category = Category::kCudaSync;
  event.name = name_id(raw.name);
  event.lane = lane_id(raw.pid, raw.tid);
  event.args = {args_offset, static_cast<uint32_t>(raw.args.size())};
  set_ids(raw, event);
  const EventId id = trace_.push(event);
  if (event.category == Category::kOther) {
    trace_.other_categories[id] = trace_.names.intern(raw.category);
  }
}

bool EventBuilder::set_times(const RawEvent& raw, Event& event) {
  const auto ts_ns = parse_us_as_ns(raw.ts);
  const bool in_range = ts_ns && *ts_ns <= kMaxTimeNs && *ts_ns >= -kMaxTimeNs;
  if (!in_range && event.phase != Phase::kMetadata) {
    defects().count(Defect::kBadTime);
    return false;
  }
  event.ts_ns = in_range ? *ts_ns : 0;
  if (event.phase != Phase::kComplete) return true;
  const auto dur_ns = parse_us_as_ns(raw.dur);
  if (!dur_ns || *dur_ns > kMaxDurationNs) {
    defects().count(Defect::kBadTime);
    return false;
  }
  event.dur_ns = *dur_ns;
  if (event.dur_ns < 0) {
    defects().count(Defect::kNegativeDuration);
    event.dur_ns = 0;
  }
  return true;
}

void EventBuilder::set_ids(const RawEvent& raw, Event& event) const {
  if (event.phase == Phase::kFlowStart || event.phase == Phase::kFlowEnd) {
    event.correlation = parse_integer_token(raw.id).value_or(0);
    return;
  }
  const bool device = is_device_work(event.category);
  const bool launch =
      event.category == Category::kCudaRuntime || event.category == Category::kCudaDriver;
  if (is_host(event.category) || device || event.category == Category::kGpuUserAnnotation) {
    event.external_id = id_arg(raw.args, "\"External id\"");
    if (event.external_id == 0) event.external_id = id_arg(raw.args, "\"external id\"");
  }
  if (device || launch) event.correlation = id_arg(raw.args, "\"correlation\"");
}

NameId EventBuilder::name_id(std::string_view raw_name) {
  if (raw_name.size() > kMaxNameBytes) return long_name_id(raw_name);
  if (is_plain_string(raw_name)) return trace_.names.intern(raw_name);
  unescaped_.clear();
  const StringDefects found = unescape(raw_name, unescaped_);
  if (found.bad_escape) defects().count(Defect::kBadEscape);
  if (found.invalid_utf8) defects().count(Defect::kInvalidUtf8);
  return trace_.names.intern(unescaped_);
}

// The size at the end tells cut names apart.
NameId EventBuilder::long_name_id(std::string_view raw_name) {
  defects().count(Defect::kLongName);
  std::string_view start = raw_name.substr(0, kMaxNameBytes);
  // Does not cut inside an escape, which has at most 12 bytes.
  start = start.substr(0, start.find('\\', start.size() - 12));
  start = start.substr(0, start.find_last_not_of('\\') + 1);
  unescaped_.clear();
  unescape(start, unescaped_);
  unescaped_ += fmt::format("... ({} bytes)", raw_name.size());
  return trace_.names.intern(unescaped_);
}

LaneId EventBuilder::lane_id(std::string_view pid, std::string_view tid) {
  if (pid == last_pid_ && tid == last_tid_ && !trace_.lanes.empty()) return last_lane_;
  last_pid_ = pid;
  last_tid_ = tid;
  Lane lane;
  const auto set = [](std::string_view token, int64_t& number, std::string& text) {
    if (const auto value = parse_integer_token(token)) {
      number = *value;
    } else {
      const bool quoted = token.size() >= 2 && token.front() == '"';
      unescape(quoted ? token.substr(1, token.size() - 2) : token, text);
    }
  };
  set(pid, lane.pid, lane.pid_text);
  set(tid, lane.tid, lane.tid_text);
  last_lane_ = trace_.find_or_add_lane(lane);
  return last_lane_;
}

Category EventBuilder::category_id(std::string_view text) {
  if (text != last_category_text_) {
    last_category_text_ = text;
    last_category_ = category_of(text);
  }
  return last_category_;
}

}  // namespace epi::trace
