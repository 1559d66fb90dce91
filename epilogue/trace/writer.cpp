// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/writer.h"

#include <fmt/format.h>

#include <cstdlib>

#include "epilogue/base/json_writer.h"
#include "epilogue/base/mapped_file.h"
#include "epilogue/base/result.h"
#include "epilogue/trace/compressed_output.h"
#include "epilogue/trace/event_args.h"

namespace epi::trace {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

void append_integer(std::string& out, int64_t value) {
  const fmt::format_int digits(value);
  out.append(digits.data(), digits.size());
}

// Writes microseconds with three decimals using integers, because a double would lose nanoseconds.
void append_us(std::string& out, int64_t ns) {
  if (ns < 0) out += '-';
  const auto magnitude = static_cast<uint64_t>(std::llabs(ns));
  append_integer(out, static_cast<int64_t>(magnitude / 1000));
  const uint64_t rest = magnitude % 1000;
  const char decimals[] = {'.', static_cast<char>('0' + rest / 100),
                           static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
  out.append(decimals, sizeof decimals);
}

// Repeated parts of the output (names and lanes) are formatted once.
class EventWriter {
 public:
  explicit EventWriter(const Trace& trace) : trace_(trace) {
    for (NameId id = 0; id < trace.names.size(); ++id) {
      names_.push_back(json_quoted(trace.names[id]));
    }
    for (const Lane& lane : trace.lanes) {
      lanes_.push_back(fmt::format(", \"pid\": {}, \"tid\": {}", id_text(lane.pid, lane.pid_text),
                                   id_text(lane.tid, lane.tid_text)));
    }
  }

  void append(std::string& out, EventId id) const {
    const Phase phase = trace_.phase[id];
    out += "  {\"ph\": \"";
    out += static_cast<char>(phase);
    out += '"';
    if (const auto category = trace_.category_text(id); !category.empty()) {
      out.append(", \"cat\": ").append(json_quoted(category));
    }
    out.append(", \"name\": ").append(names_[trace_.name[id]]).append(lanes_[trace_.lane[id]]);
    out += ", \"ts\": ";
    append_us(out, trace_.ts_ns[id]);
    if (phase == Phase::kComplete) {
      out += ", \"dur\": ";
      append_us(out, trace_.dur_ns[id]);
    }
    append_by_phase(out, id, phase);
    out += '}';
  }

 private:
  static std::string id_text(int64_t number, const std::string& text) {
    return text.empty() ? fmt::format("{}", number) : json_quoted(text);
  }

  void append_by_phase(std::string& out, EventId id, Phase phase) const {
    if (phase == Phase::kFlowStart || phase == Phase::kFlowEnd) {
      out += ", \"id\": ";
      append_integer(out, trace_.correlation[id]);
      if (phase == Phase::kFlowEnd) out += ", \"bp\": \"e\"";
      return;
    }
    if (phase == Phase::kInstant) out += ", \"s\": \"t\"";
    append_args(out, id);
  }

  // The ids are columns. The args object of an event from a file already contains them.
  void append_args(std::string& out, EventId id) const {
    const std::string_view object = trace_.args_of(id);
    const bool external = trace_.external_id[id] != 0 && !find_value(object, "External id");
    const bool correlated = trace_.correlation[id] != 0 && !find_value(object, "correlation");
    if (object.empty() && !external && !correlated) return;
    out += ", \"args\": {";
    const char* separator = "";
    if (external) {
      out += "\"External id\": ";
      append_integer(out, trace_.external_id[id]);
      separator = ", ";
    }
    if (correlated) {
      out.append(separator).append("\"correlation\": ");
      append_integer(out, trace_.correlation[id]);
      separator = ", ";
    }
    if (object.size() > 2) {
      out.append(separator).append(object.substr(1));
    } else {
      out += '}';
    }
  }

  const Trace& trace_;
  std::vector<std::string> names_;  // quoted
  std::vector<std::string> lanes_;  // `, "pid": 1, "tid": 2`
};

std::string header_text(const Trace& trace) {
  std::string out = "{\n";
  for (const auto& [key, value] : trace.properties) {
    out += fmt::format("  {}: {},\n", json_quoted(key), value);
  }
  if (trace.base_time_ns != 0) {
    out += fmt::format("  \"baseTimeNanoseconds\": {},\n", trace.base_time_ns);
  }
  return out += "  \"traceEvents\": [\n";
}

}  // namespace

Result<void> write(const Trace& trace, const std::filesystem::path& path) {
  auto output = CompressedOutput::create(path);
  EPI_TRY(output);
  const EventWriter writer(trace);
  std::string buffer = header_text(trace);
  bool first = true;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.phase[id] == Phase::kEnd) continue;  // merged into its start by join_begin_end
    if (!first) buffer += ",\n";
    first = false;
    writer.append(buffer, id);
    if (buffer.size() < kBufferBytes) continue;
    EPI_TRY((*output)->write(buffer));
    buffer.clear();
  }
  buffer += first ? "  ]\n}\n" : "\n  ]\n}\n";
  EPI_TRY((*output)->write(buffer));
  if (is_in_changed_file(trace.args_text.get())) {
    return failure("{}: not written: the file of the trace has changed since it was read",
                   path.string());
  }
  return (*output)->commit();
}

}  // namespace epi::trace
