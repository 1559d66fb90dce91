// SPDX-License-Identifier: Apache-2.0
// A window's end is a guess: the next place that looks like the beginning of an event. The guess is
// right exactly if the window before parses as a run of whole events, which is checked for each
// from the first on; where it does not, the rest of the text is read from the last sure place on.
#include "epilogue/trace/windows.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "epilogue/base/thread_pool.h"
#include "epilogue/trace/event_builder.h"
#include "epilogue/trace/fast_parser.h"
#include "epilogue/trace/tolerant_parser.h"

namespace epi::trace {
namespace {

// Few events are shorter. What is reserved and not used is never touched, and takes no memory.
constexpr size_t kFewestEventBytes = 200;

struct Window {
  size_t begin = 0;
  size_t end = 0;
  // What it gave: a range of its worker's events.
  size_t worker = 0;
  EventId first = 0;
  EventId last = 0;
  bool clean = false;       // it is a run of whole events, up to its end
  bool list_ended = false;  // the list's bracket is in it
  size_t stop = 0;          // where reading it ended
};

// What one core works with: a trace of its own, whose ranges are put together in the end.
struct Worker {
  Trace trace;
  FastParser parser;
  EventBuilder builder{trace};
};

// Copies a part of the text; from the file where there is one.
void copy_text(const EventsText& events, size_t begin, size_t end, char* to) {
  size_t at = begin;
  while (events.fd >= 0 && at < end) {
    const ssize_t got =
        ::pread(events.fd, to + (at - begin), end - at, static_cast<off_t>(events.offset + at));
    if (got <= 0) break;  // the mapping is still there
    at += static_cast<size_t>(got);
  }
  std::memcpy(to + (at - begin), events.text.data() + at, end - at);
}

// The next place at or after `from` that looks like the beginning of an event, looked for in
// pieces.
size_t find_boundary(const EventsText& events, size_t from) {
  constexpr size_t kBefore = 64;  // the comma in front of an event, and spaces
  std::string piece;
  for (size_t length = 4096;; length *= 16) {
    const size_t begin = from - std::min(from, kBefore);
    const size_t end = std::min(events.text.size(), from + length);
    if (from >= end) return events.text.size();
    piece.resize(end - begin);
    copy_text(events, begin, end, piece.data());
    const size_t found = find_event_start(piece, from - begin);
    if (found < piece.size()) return begin + found;
    if (end == events.text.size()) return end;
  }
}

class WindowParser {
 public:
  WindowParser(const EventsText& events, size_t window_bytes)
      : events_(events),
        text_(events.text),
        offset_(events.offset),
        window_bytes_(window_bytes),
        windows_((events.text.size() + window_bytes - 1) / window_bytes) {}

  ParsedEvents run() {
    parse_all();
    ParsedEvents result;
    const size_t sure = check_windows(result);
    result.trace = workers_.size() == 1 && sure == windows_.size() ? take_only_worker()
                                                                   : assemble(sure, result);
    return result;
  }

 private:
  void parse_all() {
    const auto count = std::min<size_t>(static_cast<size_t>(num_threads()), windows_.size());
    for (size_t i = 0; i < std::max<size_t>(1, count); ++i) {
      workers_.push_back(std::make_unique<Worker>());
      workers_.back()->trace.reserve(text_.size() / kFewestEventBytes / std::max<size_t>(1, count));
    }
    std::atomic<size_t> next{0};
    std::atomic<size_t> next_worker{0};
    parallel_for(static_cast<int64_t>(workers_.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const size_t worker = next_worker.fetch_add(1);
        for (size_t w = next.fetch_add(1); w < windows_.size(); w = next.fetch_add(1)) {
          windows_[w].begin = w == 0 ? 0 : find_boundary(events_, w * window_bytes_);
          windows_[w].end = find_boundary(events_, (w + 1) * window_bytes_);
          parse_window(windows_[w], worker);
        }
      }
    });
  }

  void parse_window(Window& window, size_t index) {
    Worker& worker = *workers_[index];
    const std::string_view text = text_.substr(window.begin, window.end - window.begin);
    // Behind the last event there is no beginning any more: the window that ends with the text
    // holds the list's bracket and what follows it, and those behind it are empty.
    const bool last = window.end == text_.size() && !text.empty();
    const Defects before = worker.trace.defects;
    window.worker = index;
    window.first = worker.trace.size();
    if (text.empty()) {
      window.clean = true;
      window.stop = window.end;
    } else if (!last && parse_fast(window, worker)) {
      window.clean = true;
      window.stop = window.end;
    } else {
      worker.trace.resize(window.first);
      worker.trace.defects = before;
      const EventsEnd end = parse_events_tolerantly(text, offset_ + window.begin, worker.builder);
      window.stop = window.begin + end.position;
      window.list_ended = end.list_ended;
      window.clean = last || (!end.list_ended && window.stop == window.end);
    }
    window.last = worker.trace.size();
  }

  bool parse_fast(const Window& window, Worker& worker) const {
    const size_t size = window.end - window.begin;
    copy_text(events_, window.begin, window.end, worker.parser.prepare(size));
    return worker.parser.parse(size, offset_ + window.begin, worker.builder);
  }

  // How many windows from the first on are sure; what they end in goes into `result`.
  size_t check_windows(ParsedEvents& result) const {
    for (size_t i = 0; i < windows_.size(); ++i) {
      result.end = windows_[i].stop;
      result.list_ended = windows_[i].list_ended;
      if (windows_[i].list_ended) return i + 1;
      if (!windows_[i].clean) return i;
    }
    return windows_.size();
  }

  Trace take_only_worker() { return std::move(workers_.front()->trace); }

  // The sure windows' events in the file's order; then, where one was not sure, the rest of the
  // text by the tolerant parser.
  Trace assemble(size_t sure, ParsedEvents& result) {
    Trace trace;
    std::vector<size_t> starts(sure + 1, 0);
    for (size_t i = 0; i < sure; ++i) {
      starts[i + 1] = starts[i] + (windows_[i].last - windows_[i].first);
    }
    std::vector<Renumbering> renumberings;
    for (const auto& worker : workers_) {
      renumberings.push_back(trace.adopt_names(worker->trace));
      trace.defects.add(worker->trace.defects);
    }
    fill_columns(trace, starts, renumberings);
    adopt_other_categories(trace, starts, renumberings);
    if (sure < windows_.size() && !result.list_ended) {
      EventBuilder builder(trace);
      const size_t begin = windows_[sure].begin;
      const EventsEnd end = parse_events_tolerantly(text_.substr(begin), offset_ + begin, builder);
      result.end = begin + end.position;
      result.list_ended = end.list_ended;
    }
    return trace;
  }

  // A column at a time, each on one core.
  void fill_columns(Trace& trace, const std::vector<size_t>& starts,
                    const std::vector<Renumbering>& renumberings) const {
    const auto append = [&](auto& column, auto&& of, auto&& convert) {
      column.reserve(starts.back());
      for (size_t i = 0; i + 1 < starts.size(); ++i) {
        const Window& window = windows_[i];
        const auto& from = of(workers_[window.worker]->trace);
        for (EventId id = window.first; id < window.last; ++id) {
          column.push_back(convert(from[id], window.worker));
        }
      }
    };
    const auto same = [](auto value, size_t) { return value; };
    const std::vector<std::function<void()>> columns = {
        [&] { append(trace.ts_ns, [](const Trace& t) -> auto& { return t.ts_ns; }, same); },
        [&] { append(trace.dur_ns, [](const Trace& t) -> auto& { return t.dur_ns; }, same); },
        [&] {
          append(trace.external_id, [](const Trace& t) -> auto& { return t.external_id; }, same);
        },
        [&] {
          append(trace.correlation, [](const Trace& t) -> auto& { return t.correlation; }, same);
        },
        [&] { append(trace.args, [](const Trace& t) -> auto& { return t.args; }, same); },
        [&] { append(trace.phase, [](const Trace& t) -> auto& { return t.phase; }, same); },
        [&] { append(trace.category, [](const Trace& t) -> auto& { return t.category; }, same); },
        [&] {
          append(
              trace.name, [](const Trace& t) -> auto& { return t.name; },
              [&](NameId name, size_t worker) { return renumberings[worker].names[name]; });
        },
        [&] {
          append(
              trace.lane, [](const Trace& t) -> auto& { return t.lane; },
              [&](LaneId lane, size_t worker) { return renumberings[worker].lanes[lane]; });
        }};
    parallel_for(static_cast<int64_t>(columns.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) columns[static_cast<size_t>(i)]();
    });
  }

  void adopt_other_categories(Trace& trace, const std::vector<size_t>& starts,
                              const std::vector<Renumbering>& renumberings) const {
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      const Window& window = windows_[i];
      for (const auto& [id, name] : workers_[window.worker]->trace.other_categories) {
        if (id < window.first || id >= window.last) continue;
        trace.other_categories[static_cast<EventId>(starts[i] + id - window.first)] =
            renumberings[window.worker].names[name];
      }
    }
  }

  const EventsText& events_;
  std::string_view text_;
  uint64_t offset_;
  size_t window_bytes_;
  std::vector<Window> windows_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

ParsedEvents parse_in_windows(const EventsText& events, size_t window_bytes) {
  return WindowParser(events, window_bytes).run();
}

}  // namespace epi::trace
