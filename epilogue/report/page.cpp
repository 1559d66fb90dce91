// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/page.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "epilogue/analysis/advise.h"
#include "epilogue/analysis/breakdown.h"
#include "epilogue/analysis/compare.h"
#include "epilogue/analysis/profiler_table.h"
#include "epilogue/analysis/summary.h"
#include "epilogue/analysis/timeline.h"
#include "epilogue/report/advise_report.h"
#include "epilogue/report/breakdown_report.h"
#include "epilogue/report/compare_report.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/page_files.h"
#include "epilogue/report/profiler_table.h"
#include "epilogue/report/regime_report.h"
#include "epilogue/report/steps_report.h"
#include "epilogue/report/summary_report.h"
#include "epilogue/trace/args.h"

namespace epi::report {
namespace {

using trace::EventId;
using trace::kNoEvent;

// Some 50 bytes each: the page stays below 25 MB.
constexpr size_t kMostEvents = 200'000;  // of all traces of the page
constexpr size_t kLongestShapes = 160;

// Texts that events share, each once.
class Texts {
 public:
  int64_t place(std::string_view text) {
    const auto [found, is_new] =
        places_.try_emplace(std::string(text), static_cast<int64_t>(list_.size()));
    if (is_new) list_.push_back(found->first);
    return found->second;
  }
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::unordered_map<std::string, int64_t> places_;
  std::vector<std::string> list_;
};

// Columns of numbers for each lane; begins are differences.
class TimelineWriter {
 public:
  TimelineWriter(JsonWriter& json, const analysis::Examined& examined, size_t most)
      : json_(json), examined_(examined), timeline_(make_timeline(examined, most)) {
    for (const auto& lane : timeline_.lanes) {
      for (const EventId id : lane.events) {
        places_.emplace(id, static_cast<int64_t>(places_.size()));
      }
    }
    add_work();
  }

  void write() {
    json_.key("begin_ns").integer(timeline_.begin_ns);
    json_.key("length_ns").integer(timeline_.end_ns - timeline_.begin_ns);
    json_.key("left_out").integer(timeline_.left_out);
    json_.key("lanes").begin_array();
    for (const auto& lane : timeline_.lanes) write_lane(lane);
    json_.end_array();
    json_.key("texts").begin_array();
    for (const std::string& text : texts_.list()) json_.string(text);
    json_.end_array();
  }

 private:
  void write_lane(const analysis::TimelineLane& lane) {
    const trace::Trace& trace = examined_.trace;
    json_.begin_object().key("title").string(lane.name).key("device").boolean(lane.is_device);
    json_.key("left_out").integer(lane.left_out).key("rest").begin_array();
    for (const double share : lane.rest) json_.fixed(share, 2);
    json_.end_array();
    int64_t before = timeline_.begin_ns;
    column("begin", lane, [&](EventId id) {
      const int64_t step = trace.ts_ns[id] - before;
      before = trace.ts_ns[id];
      return step;
    });
    column("dur", lane, [&](EventId id) { return trace.dur_ns[id]; });
    column("name", lane, [&](EventId id) { return texts_.place(trace.name_of(id)); });
    if (lane.is_device) {
      column("said", lane, [&](EventId id) { return said(id); });
      column("launch", lane, [&](EventId id) { return place_of(examined_.links.launch[id]); });
      column("op", lane, [&](EventId id) { return place_of(examined_.links.op[id]); });
    } else {
      column("kind", lane, [&](EventId id) { return texts_.place(trace.category_text(id)); });
      column("shapes", lane, [&](EventId id) { return shapes(id); });
      column("self", lane, [&](EventId id) { return examined_.links.tree.self_ns[id]; });
      column("gpu", lane, [&](EventId id) { return work_[id].ns; });
      column("works", lane, [&](EventId id) { return work_[id].count; });
    }
    json_.end_object();
  }

  // What each host event started: operators on their own thread, annotations on every one.
  void add_work() {
    const trace::Trace& trace = examined_.trace;
    work_.resize(trace.size());
    for (const EventId id : examined_.ownership.everything().work) {
      const EventId launch = examined_.links.launch[id];
      EventId at = launch != kNoEvent ? launch : examined_.links.op[id];
      for (; at != kNoEvent; at = examined_.links.tree.parent[at]) {
        work_[at].ns += trace.dur_ns[id];
        ++work_[at].count;
      }
    }
    for (const EventId id : examined_.links.tree.order) {
      if (!analysis::is_annotation(trace, id)) continue;
      const auto owned = examined_.ownership.owned(trace.ts_ns[id], trace.end_ns(id)).work;
      work_[id] = {0, static_cast<int64_t>(owned.size())};
      for (const EventId one : owned) work_[id].ns += trace.dur_ns[one];
    }
  }

  template <typename Value>
  void column(const char* key, const analysis::TimelineLane& lane, Value&& value) {
    json_.key(key).begin_array();
    for (const EventId id : lane.events) json_.integer(value(id));
    json_.end_array();
  }

  int64_t place_of(EventId id) const {
    const auto found = places_.find(id);
    return id == kNoEvent || found == places_.end() ? -1 : found->second;
  }

  int64_t said(EventId id) {
    const trace::NameId name = examined_.trace.name[id];
    const auto [found, is_new] = said_.try_emplace(name, 0);
    if (is_new) {
      const std::string text(examined_.trace.name_of(id));
      found->second = texts_.place(kernel_sentence(text, examined_.names[name]));
    }
    return found->second;
  }

  int64_t shapes(EventId id) {
    const auto dims = trace::find_value(examined_.trace.args_of(id), "Input Dims");
    return dims ? texts_.place(dims->substr(0, kLongestShapes)) : -1;
  }

  JsonWriter& json_;
  const analysis::Examined& examined_;
  analysis::Timeline timeline_;
  std::unordered_map<EventId, int64_t> places_;
  std::map<trace::NameId, int64_t> said_;
  struct Started {
    int64_t ns = 0;
    int64_t count = 0;
  };
  std::vector<Started> work_;  // by event
  Texts texts_;
};

template <typename Write>
void object(JsonWriter& json, const char* key, Write&& write) {
  json.key(key).begin_object();
  write();
  json.end_object();
}

void trace_json(JsonWriter& json, const PageTrace& page_trace, size_t most_events) {
  const analysis::Examined& examined = page_trace.examined;
  const trace::Trace& trace = examined.trace;
  json.begin_object().key("file").string(page_trace.file);
  object(json, "summary", [&] { summary_json(json, analysis::summarize(examined)); });
  object(json, "steps", [&] {
    steps_json(json, {analysis::steps(trace, examined.ownership),
                      analysis::annotations(trace, examined.ownership)});
  });
  object(json, "table", [&] {
    auto table = analysis::profiler_table(trace);
    analysis::sort_rows(table, "cuda_time_total");
    table_json(json, table, {.limit = 2000});
  });
  object(json, "breakdown", [&] { breakdown_json(json, analysis::breakdown(examined)); });
  const analysis::Advised advised = analysis::advise(examined, std::nullopt);
  object(json, "advice",
         [&] { advise_json(json, advised, trace, {.file = page_trace.file, .most_events = 5}); });
  json.key("bound");
  advised.use ? json.string(use_text(*advised.use)) : json.null();
  object(json, "timeline", [&] { TimelineWriter(json, examined, most_events).write(); });
  json.end_object();
}

// Inside of a script element no "<" may stand: it could end the element.
std::string script_safe(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    c == '<' ? out += "\\u003c" : out += c;
  }
  return out;
}

// As a policy names a script: a hash of 64 hexadecimal digits in base 64.
std::string base64_of(std::string_view hex) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  // Three digits of base 16 are two of base 64; the hash is 32 bytes, so that one "=" is left.
  for (size_t at = 0; at < hex.size(); at += 3) {
    const std::string part =
        std::string(hex.substr(at, 3)) + std::string(at + 3 > hex.size() ? 2 : 0, '0');
    const int value = std::stoi(part.substr(0, 3), nullptr, 16);
    out += kDigits[static_cast<size_t>(value >> 6)];
    out += kDigits[static_cast<size_t>(value & 63)];
  }
  return out.substr(0, 43) + "=";
}

}  // namespace

std::string page_html(const std::vector<PageTrace>& traces) {
  JsonWriter json;
  json.begin_object().key("schema").integer(1).key("files").begin_array();
  for (const PageTrace& one : traces) trace_json(json, one, kMostEvents / traces.size());
  json.end_array().key("compare");
  if (traces.size() == 2) {
    const auto comparison = analysis::compare(traces[0].examined, traces[1].examined, std::nullopt);
    json.begin_object();
    compare_json(json, comparison);
    json.end_object();
  } else {
    json.null();
  }
  json.end_object();
  const std::string script = std::string(kPageScript) + std::string(kTimelineScript);
  std::string out(kPageHead);
  const auto put = [&](std::string_view mark, const std::string& text) {
    out.replace(out.find(mark), mark.size(), text);
  };
  put("{policy}", fmt::format("default-src 'none'; style-src 'unsafe-inline'; script-src "
                              "'sha256-{}'; base-uri 'none'; form-action 'none'",
                              base64_of(kScriptHash)));
  put("{style}", std::string(kPageStyle));
  put("{script}", script);
  put("{data}", script_safe(json.text()));
  return out;
}

}  // namespace epi::report
