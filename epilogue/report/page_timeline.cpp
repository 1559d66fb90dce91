// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/page_timeline.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "epilogue/base/json_writer.h"
#include "epilogue/report/idle_class.h"
#include "epilogue/report/kernel_class.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/text.h"
#include "epilogue/report/words.h"
#include "epilogue/trace/event_args.h"

namespace epi::report {
namespace {

using trace::EventId;
using trace::kNoEvent;

constexpr size_t kMaxTextLength = 2000;  // the page searches for at most 500 characters of a name
constexpr size_t kMaxGaps = 50'000;      // idle intervals in the page, of all devices

// A table of distinct strings.
class Texts {
 public:
  int64_t index_of(std::string_view text) {
    const auto [found, is_new] =
        indices_.try_emplace(std::string(text), static_cast<int64_t>(list_.size()));
    if (is_new) list_.push_back(found->first);
    return found->second;
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::unordered_map<std::string, int64_t> indices_;
  std::vector<std::string> list_;
};

// Writes columns of numbers for each lane. Start times are delta-encoded.
class TimelineWriter {
 public:
  TimelineWriter(const analysis::TraceIndex& index, const analysis::Timeline& timeline,
                 const EventPlaces& places)
      : index_(index), timeline_(timeline), places_(places) {
    add_work();
  }

  std::string text(const std::vector<analysis::DeviceBreakdown>& devices,
                   const std::optional<analysis::Diagnosis>& diagnosis) {
    json_.begin_object().key("length_ns").integer(timeline_.end_ns - timeline_.begin_ns);
    json_.key("left_out").integer(timeline_.left_out);
    json_.key("too_deep").integer(timeline_.too_deep);
    json_.key("streams_left_out").integer(timeline_.streams_left_out);
    json_.key("left_out_stream_ns").integer(timeline_.left_out_stream_ns);
    json_.key("stream_ns").integer(timeline_.stream_ns);
    json_.key("threads_left_out").integer(timeline_.threads_left_out);
    json_.key("cells_ns").begin_array();
    for (const int64_t cell_ns : timeline_.cells_ns) json_.integer(cell_ns);
    json_.end_array().key("lanes").begin_array();
    for (const auto& lane : timeline_.lanes) write_lane(lane);
    json_.end_array();
    write_path(diagnosis);
    write_idle(devices);
    json_.key("texts").begin_array();
    for (const std::string& text : texts_.list()) json_.string(text);
    json_.end_array().key("kinds").begin_array();
    for (size_t i = 0; i < texts_.list().size(); ++i) {
      const auto kind = kinds_.find(static_cast<int64_t>(i));
      json_.integer(kind == kinds_.end() ? -1 : static_cast<int64_t>(kind->second));
    }
    json_.end_array().end_object();
    return json_.text();
  }

 private:
  // Converts start times to differences from the previous one.
  template <typename Begin>
  auto deltas(Begin begin) const {
    return [begin, last = timeline_.begin_ns](const auto& item) mutable {
      const int64_t delta = begin(item) - last;
      last += delta;
      return delta;
    };
  }

  void write_lane(const analysis::TimelineLane& lane) {
    const trace::Trace& trace = index_.trace;
    json_.begin_object().key("title").string(lane.name).key("device").boolean(lane.is_device);
    json_.key("python").boolean(lane.is_python).key("pid").integer(lane.pid);
    json_.key("row").begin_array();
    for (const uint8_t row : lane.rows) json_.integer(row);
    json_.end_array();
    column("begin", lane.events, deltas([&](EventId id) { return trace.ts_ns[id]; }));
    column("dur", lane.events, [&](EventId id) { return trace.dur_ns[id]; });
    column("name", lane.events, [&](EventId id) { return name(id); });
    if (lane.is_device) {
      column("said", lane.events, [&](EventId id) { return decoded_name(id); });
      column("launch", lane.events,
             [&](EventId id) { return places_.of(index_.links.launch[id]); });
      column("op", lane.events, [&](EventId id) { return places_.of(index_.links.op[id]); });
    } else {
      column("kind", lane.events,
             [&](EventId id) { return texts_.index_of(trace.category_text(id)); });
      column("shapes", lane.events, [&](EventId id) { return shapes(id); });
      column("self", lane.events, [&](EventId id) { return index_.links.tree.self_ns[id]; });
      column("gpu", lane.events, [&](EventId id) { return work_[id].ns; });
      column("works", lane.events, [&](EventId id) { return work_[id].count; });
    }
    json_.key("levels").begin_array();
    for (const auto& level : lane.levels) write_level(level, lane.is_device);
    json_.end_array().end_object();
  }

  void write_level(const std::vector<analysis::TimelineRow>& rows, bool is_device) {
    using Span = analysis::TimelineSpan;
    json_.begin_array();
    for (const analysis::TimelineRow& row : rows) {
      json_.begin_object();
      column("begin", row, deltas([](const Span& span) { return span.begin_ns; }));
      column("dur", row, [](const Span& span) { return span.end_ns - span.begin_ns; });
      column("count", row, [](const Span& span) { return span.count; });
      column("busy", row, [](const Span& span) {
        return 100 * span.busy_ns / std::max<int64_t>(1, span.end_ns - span.begin_ns);
      });
      column("name", row, [&](const Span& span) {
        return is_device ? decoded_name(span.longest) : name(span.longest);
      });
      json_.end_object();
    }
    json_.end_array();
  }

  void write_path(const std::optional<analysis::Diagnosis>& diagnosis) {
    using analysis::PathPart;
    json_.key("path");
    if (!diagnosis || diagnosis->launches_missing) {
      json_.null();
      return;
    }
    const std::vector<PathPart> parts = shown_parts(diagnosis->path);
    json_.begin_object().key("title").string("critical path of " + diagnosis->shown);
    column("begin", parts, deltas([](const PathPart& part) { return part.begin_ns; }));
    column("dur", parts, [](const PathPart& part) { return part.end_ns - part.begin_ns; });
    column("name", parts,
           [&](const PathPart& part) { return texts_.index_of(phrase_of(part.bound)); });
    // The class of idle time, or -1 for device work.
    column("idle", parts, [](const PathPart& part) {
      return is_device_bound(part.bound) ? -1 : static_cast<int64_t>(idle_class(part.bound));
    });
    json_.end_object();
  }

  // The idle intervals of each device, in order of time. If there are too many, the longest.
  void write_idle(const std::vector<analysis::DeviceBreakdown>& devices) {
    using analysis::IdleGap;
    json_.key("idle").begin_array();
    for (const analysis::DeviceBreakdown& device : devices) {
      std::vector<IdleGap> gaps = device.gaps;
      const auto ns = [](const IdleGap& gap) { return gap.when.end - gap.when.begin; };
      const size_t most = kMaxGaps / devices.size();
      int64_t left_out_ns = 0;
      if (gaps.size() > most) {
        const auto last = gaps.begin() + static_cast<std::ptrdiff_t>(most);
        std::nth_element(gaps.begin(), last, gaps.end(),
                         [&](const auto& a, const auto& b) { return ns(a) > ns(b); });
        for (auto gap = last; gap != gaps.end(); ++gap) left_out_ns += ns(*gap);
        gaps.erase(last, gaps.end());
        std::sort(gaps.begin(), gaps.end(),
                  [](const auto& a, const auto& b) { return a.when.begin < b.when.begin; });
      }
      json_.begin_object().key("pid").integer(device.device);
      json_.key("window").begin_array().integer(device.begin_ns - timeline_.begin_ns);
      json_.integer(device.shares.window_ns).end_array();
      json_.key("left_out").integer(static_cast<int64_t>(device.gaps.size() - gaps.size()));
      json_.key("left_out_ns").integer(left_out_ns);
      column("begin", gaps, deltas([](const IdleGap& gap) { return gap.when.begin; }));
      column("dur", gaps, ns);
      column("idle", gaps,
             [](const IdleGap& gap) { return static_cast<int64_t>(idle_class(gap)); });
      column("cause", gaps, [&](const IdleGap& gap) {
        return texts_.index_of(cause_text(gap.cause, gap.activity));
      });
      column("host", gaps, [&](const IdleGap& gap) { return places_.of(gap.host); });
      column("host_name", gaps,
             [&](const IdleGap& gap) { return gap.host == kNoEvent ? -1 : name(gap.host); });
      column("waiting", gaps, [&](const IdleGap& gap) { return places_.of(gap.waiting); });
      column("waiting_name", gaps, [&](const IdleGap& gap) {
        return gap.waiting == kNoEvent ? -1 : decoded_name(gap.waiting);
      });
      json_.end_object();
    }
    json_.end_array();
  }

  // Merges adjacent parts with the same bound, and keeps the longest if there are too many.
  static std::vector<analysis::PathPart> shown_parts(const std::vector<analysis::PathPart>& path) {
    constexpr size_t kMax = 4000;
    std::vector<analysis::PathPart> parts;
    for (const analysis::PathPart& part : path) {
      if (!parts.empty() && parts.back().bound == part.bound) {
        parts.back().end_ns = part.end_ns;
      } else {
        parts.push_back(part);
      }
    }
    if (parts.size() <= kMax) return parts;
    std::nth_element(
        parts.begin(), parts.begin() + kMax, parts.end(),
        [](const auto& a, const auto& b) { return a.end_ns - a.begin_ns > b.end_ns - b.begin_ns; });
    parts.resize(kMax);
    std::sort(parts.begin(), parts.end(),
              [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
    return parts;
  }

  // The work that each host event launched: operators on their own thread, annotations on all
  // threads.
  void add_work() {
    const trace::Trace& trace = index_.trace;
    work_.resize(trace.size());
    for (const EventId id : index_.ownership.everything().work) {
      const EventId launch = index_.links.launch[id];
      const EventId host = launch != kNoEvent ? launch : index_.links.op[id];
      if (host == kNoEvent) continue;
      work_[host].ns += trace.dur_ns[id];
      ++work_[host].count;
    }
    // Parents come before their children in the order.
    const auto& order = index_.links.tree.order;
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const EventId parent = index_.links.tree.parent[*id];
      if (parent == kNoEvent) continue;
      work_[parent].ns += work_[*id].ns;
      work_[parent].count += work_[*id].count;
    }
    for (const EventId id : order) {
      if (!analysis::is_annotation(trace, id)) continue;
      const auto owned = index_.ownership.work_between(trace.ts_ns[id], trace.end_ns(id));
      work_[id] = {owned.ns, owned.count};
    }
  }

  template <typename Item, typename Value>
  void column(const char* key, const std::vector<Item>& items, Value&& value) {
    json_.key(key).begin_array();
    for (const Item& item : items) json_.integer(value(item));
    json_.end_array();
  }

  int64_t name(EventId id) {
    return texts_.index_of(utf8_prefix(index_.trace.name_of(id), kMaxTextLength));
  }

  int64_t decoded_name(EventId id) {
    const trace::NameId name = index_.trace.name[id];
    const auto [found, is_new] = decoded_names_.try_emplace(name, 0);
    if (is_new) {
      const std::string text(index_.trace.name_of(id));
      found->second =
          texts_.index_of(utf8_prefix(kernel_sentence(text, index_.names[name]), kMaxTextLength));
      kinds_.emplace(found->second, kernel_class(index_.names[name].kind));
    }
    return found->second;
  }

  int64_t shapes(EventId id) {
    const auto dims = trace::find_value(index_.trace.args_of(id), "Input Dims");
    return dims ? texts_.index_of(utf8_prefix(*dims, kMaxTextLength)) : -1;
  }

  JsonWriter json_;
  const analysis::TraceIndex& index_;
  const analysis::Timeline& timeline_;
  const EventPlaces& places_;
  std::unordered_map<int64_t, KernelClass> kinds_;  // by text
  std::map<trace::NameId, int64_t> decoded_names_;
  struct LaunchedWork {
    int64_t ns = 0;
    int64_t count = 0;
  };
  std::vector<LaunchedWork> work_;  // by event
  Texts texts_;
};

}  // namespace

EventPlaces::EventPlaces(const analysis::Timeline& timeline) : begin_ns_(timeline.begin_ns) {
  for (const auto& lane : timeline.lanes) {
    for (const EventId id : lane.events) places_.emplace(id, static_cast<int64_t>(places_.size()));
  }
}

int64_t EventPlaces::of(EventId id) const {
  const auto found = places_.find(id);
  return id == kNoEvent || found == places_.end() ? -1 : found->second;
}

std::string timeline_json(const analysis::TraceIndex& index, const analysis::Timeline& timeline,
                          const EventPlaces& places,
                          const std::vector<analysis::DeviceBreakdown>& devices,
                          const std::optional<analysis::Diagnosis>& diagnosis) {
  return TimelineWriter(index, timeline, places).text(devices, diagnosis);
}

}  // namespace epi::report
