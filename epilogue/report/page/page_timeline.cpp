// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/page/page_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "epilogue/analysis/index/launched_work.h"
#include "epilogue/analysis/time/python_frames.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/description/words.h"
#include "epilogue/report/kernels/kernel_class.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"
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

// Lanes and events that the timeline does not have, or not individually.
std::vector<std::string> timeline_notes(const analysis::Timeline& timeline) {
  std::vector<std::string> notes;
  if (timeline.streams_left_out > 0) {
    const double share = static_cast<double>(timeline.left_out_stream_ns) /
                         static_cast<double>(std::max<int64_t>(1, timeline.stream_ns));
    notes.push_back(fmt::format(
        "the timeline has the busiest streams; {} with {:.1f} % of the GPU "
        "time left out",
        plural(static_cast<double>(timeline.streams_left_out), "further stream"), 100 * share));
  }
  if (timeline.threads_left_out > 0) {
    notes.push_back(
        fmt::format("{} with less time left out",
                    plural(static_cast<double>(timeline.threads_left_out), "further thread")));
  }
  if (timeline.left_out > 0) {
    notes.emplace_back(
        "the timeline draws the longest kernels with the events that launched them, and the "
        "longest other events; ranges sum up only these");
    notes.push_back(fmt::format("{} merged into spans, shaded by how busy they are",
                                plural(static_cast<double>(timeline.left_out), "shorter event")));
  }
  if (timeline.too_deep > 0) {
    notes.push_back(fmt::format("{} nested too deeply to be drawn",
                                plural(static_cast<double>(timeline.too_deep), "event")));
  }
  return notes;
}

// Writes columns of numbers for each lane. Start times are delta-encoded.
class TimelineWriter {
 public:
  TimelineWriter(const analysis::TraceIndex& index, const analysis::Timeline& timeline,
                 const EventPlaces& places, const analysis::StepGroup& steps)
      : index_(index),
        timeline_(timeline),
        places_(places),
        python_(index.trace),
        work_(analysis::launched_work(index)) {
    for (const auto& step : steps.steps) steps_.insert(step.event);
  }

  std::string text(const std::vector<PageDevice>& devices,
                   const std::optional<analysis::Diagnosis>& diagnosis) {
    json_.begin_object().key("length_ns").integer(timeline_.end_ns - timeline_.begin_ns);
    json_.key("left_out").integer(timeline_.left_out);
    json_.key("notes").begin_array();
    for (const std::string& note : timeline_notes(timeline_)) json_.string(note);
    json_.end_array();
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
      column("decoded", lane.events, [&](EventId id) { return decoded_name(id); });
      column("launch", lane.events,
             [&](EventId id) { return places_.of(index_.links.launch[id]); });
      column("op", lane.events, [&](EventId id) { return places_.of(index_.links.op[id]); });
    } else {
      column("kind", lane.events,
             [&](EventId id) { return texts_.index_of(trace.category_text(id)); });
      column("shapes", lane.events, [&](EventId id) { return shapes(id); });
      column("self", lane.events, [&](EventId id) { return index_.links.tree.self_ns[id]; });
      column("gpu", lane.events, [&](EventId id) { return work_[id].ns; });
      column("work_count", lane.events, [&](EventId id) { return work_[id].count; });
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
    json_.begin_object().key("title").string(
        fmt::format("critical path of {}", diagnosis->step.name));
    column("begin", parts, deltas([](const PathPart& part) { return part.begin_ns; }));
    column("dur", parts, [](const PathPart& part) { return part.end_ns - part.begin_ns; });
    column("name", parts,
           [&](const PathPart& part) { return texts_.index_of(words_of(part.bound).phrase); });
    // The class of idle time, or -1 for device work.
    column("idle", parts, [](const PathPart& part) {
      return is_device_bound(part.bound) ? -1
                                         : static_cast<int64_t>(analysis::idle_class(part.bound));
    });
    json_.end_object();
  }

  // The idle intervals of each device, in order of time, each with the parts that differ in what
  // the host did.
  void write_idle(const std::vector<PageDevice>& devices) {
    json_.key("idle").begin_array();
    for (const PageDevice& device : devices) write_gaps(device, kMaxGaps / devices.size());
    json_.end_array();
  }

  void write_gaps(const PageDevice& device, size_t most) {
    using analysis::IdleGap;
    LeftOut left_out(device.window);
    const std::vector<GapPart> parts = longest_gaps(device.gaps, most, left_out);
    json_.begin_object().key("pid").integer(device.device);
    json_.key("window").begin_array().integer(device.window.begin - timeline_.begin_ns);
    json_.integer(device.window.end - device.window.begin).end_array();
    left_out.write(json_);
    const auto column_of = [&](const char* key, const auto& value) {
      column(key, parts, [&](const GapPart& part) { return value(*part.gap); });
    };
    column("begin", parts, deltas([](const GapPart& part) { return part.gap->when.begin; }));
    column("interval", parts, [](const GapPart& part) { return part.interval; });
    column_of("dur", [](const IdleGap& gap) { return gap.when.end - gap.when.begin; });
    column_of("idle", [](const IdleGap& gap) { return static_cast<int64_t>(idle_class(gap)); });
    column_of("cause", [&](const IdleGap& gap) {
      return texts_.index_of(cause_text(gap.cause, gap.activity));
    });
    column_of("host", [&](const IdleGap& gap) { return places_.of(host_event(gap)); });
    column_of("host_name", [&](const IdleGap& gap) { return name_or_none(host_event(gap)); });
    column_of("python", [&](const IdleGap& gap) { return name_or_none(python_at(gap).function); });
    column_of("module", [&](const IdleGap& gap) { return name_or_none(python_at(gap).module); });
    column_of("waiting", [&](const IdleGap& gap) { return places_.of(gap.waiting); });
    column_of("waiting_name", [&](const IdleGap& gap) {
      return gap.waiting == kNoEvent ? -1 : decoded_name(gap.waiting);
    });
    json_.end_object();
  }

  // The idle time of the intervals that the page does not have, by class, in equal parts of the
  // window: what a range sums up of them. Exact for the whole window.
  class LeftOut {
   public:
    explicit LeftOut(const analysis::Interval& window)
        : begin_(window.begin), length_(std::max<int64_t>(1, window.end - window.begin)) {}

    void add(const analysis::IdleGap& gap) {
      if (sums_.empty()) sums_.resize(analysis::kIdleClasses);
      std::vector<int64_t>& sums = sums_[static_cast<size_t>(idle_class(gap))];
      if (sums.empty()) sums.resize(kParts);
      const int64_t place = static_cast<int64_t>(static_cast<double>(gap.when.begin - begin_) /
                                                 static_cast<double>(length_) * kParts);
      sums[static_cast<size_t>(std::clamp<int64_t>(place, 0, kParts - 1))] += gap.ns();
    }
    // A list for each class; empty lists for classes without such time.
    void write(JsonWriter& json) const {
      json.key("left_out").begin_array();
      for (const std::vector<int64_t>& sums : sums_) {
        json.begin_array();
        for (const int64_t ns : sums) json.integer(ns);
        json.end_array();
      }
      json.end_array();
    }

   private:
    static constexpr int kParts = 2048;
    int64_t begin_;
    int64_t length_;
    std::vector<std::vector<int64_t>> sums_;
  };

  // A part of an idle interval, and the number of the interval.
  struct GapPart {
    const analysis::IdleGap* gap;
    int64_t interval;
  };
  // The parts of the longest intervals, at most about `most`.
  static std::vector<GapPart> longest_gaps(const std::vector<analysis::IdleGap>& gaps, size_t most,
                                           LeftOut& left_out) {
    std::vector<GapPart> parts;
    std::vector<int64_t> lengths;  // by interval
    for (const analysis::IdleGap& gap : gaps) {
      const bool continues = !parts.empty() && parts.back().gap->when.end == gap.when.begin &&
                             parts.back().gap->waiting == gap.waiting;
      if (!continues) lengths.push_back(0);
      lengths.back() += gap.when.end - gap.when.begin;
      parts.push_back({&gap, static_cast<int64_t>(lengths.size()) - 1});
    }
    if (parts.size() <= most) return parts;
    std::vector<int64_t> sorted = lengths;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const size_t kept = std::max<size_t>(1, most * lengths.size() / parts.size());
    const int64_t shortest = sorted[kept - 1];
    // Many intervals may be as long as the shortest that fits.
    auto ties =
        std::count(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept), shortest);
    std::vector<bool> is_kept(lengths.size());
    for (size_t i = 0; i < lengths.size(); ++i) {
      const bool is_tie = lengths[i] == shortest && ties > 0;
      if (is_tie) --ties;
      is_kept[i] = is_tie || lengths[i] > shortest;
    }
    std::erase_if(parts, [&](const GapPart& part) {
      const bool is_left_out = !is_kept[static_cast<size_t>(part.interval)];
      if (is_left_out) left_out.add(*part.gap);
      return is_left_out;
    });
    return parts;
  }

  // What the host ran. That a step ran says nothing.
  EventId host_event(const analysis::IdleGap& gap) const {
    return steps_.contains(gap.host) ? kNoEvent : gap.host;
  }
  analysis::PythonFrames::Running python_at(const analysis::IdleGap& gap) const {
    const EventId launch = gap.waiting == kNoEvent ? kNoEvent : index_.links.launch[gap.waiting];
    const EventId on_thread = gap.host != kNoEvent ? gap.host : launch;
    if (on_thread == kNoEvent) return {};
    const int64_t middle = gap.when.begin + (gap.when.end - gap.when.begin) / 2;
    return python_.at(index_.trace.lane[on_thread], middle);
  }
  int64_t name_or_none(EventId id) { return id == kNoEvent ? -1 : name(id); }

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
  analysis::PythonFrames python_;
  std::unordered_set<EventId> steps_;
  std::unordered_map<int64_t, KernelClass> kinds_;  // by text
  std::map<trace::NameId, int64_t> decoded_names_;
  std::vector<analysis::LaunchedWork> work_;
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
                          const EventPlaces& places, const analysis::StepGroup& steps,
                          const std::vector<PageDevice>& devices,
                          const std::optional<analysis::Diagnosis>& diagnosis) {
  return TimelineWriter(index, timeline, places, steps).text(devices, diagnosis);
}

}  // namespace epi::report
