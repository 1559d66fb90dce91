// SPDX-License-Identifier: Apache-2.0
// A window ends at a guess: the next position that looks like the start of an event. The first
// window starts where the list does. By induction, the guess is right exactly if the window parses
// as a sequence of complete events. If a window does not, its text is re-parsed from its start
// until an event starts at the boundary of another window.
#include "epilogue/trace/windows.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "epilogue/base/thread_pool.h"
#include "epilogue/trace/event_builder.h"
#include "epilogue/trace/fast_parser.h"
#include "epilogue/trace/join_parts.h"
#include "epilogue/trace/tolerant_parser.h"

namespace epi::trace {
namespace {

// Few events are shorter. Memory that is reserved but unused is never touched and takes no RAM.
constexpr size_t kMinEventBytes = 200;
// A window that an event makes longer than this many others is parsed in place, without copies.
constexpr size_t kMaxFastWindows = 16;

struct Window {
  size_t begin = 0;
  size_t end = 0;
  // The parsed events: a range in the trace of `worker`.
  size_t worker = 0;
  EventId first = 0;
  EventId last = 0;
  bool whole = false;  // no event is malformed or truncated
  bool clean = false;  // a sequence of complete events, up to the end of the window or the list
  bool list_ended = false;  // contains the list's closing bracket
  size_t stop = 0;          // where parsing ended
  Defects defects{};
};

// The state of one core: a trace, parts of which are joined at the end.
struct Worker {
  Trace trace;
  FastParser parser;
  EventBuilder builder{trace};
};

// Copies a part of the text, from the file descriptor if there is one.
void copy_text(const EventsText& events, size_t begin, size_t end, char* to) {
  size_t at = begin;
  while (events.fd >= 0 && at < end) {
    const ssize_t got =
        ::pread(events.fd, to + (at - begin), end - at, static_cast<off_t>(events.offset + at));
    if (got <= 0) break;  // fall back to the mapping
    at += static_cast<size_t>(got);
  }
  std::memcpy(to + (at - begin), events.text.data() + at, end - at);
}

// The next position in [from, to) that looks like the start of an event. `to` if there is none.
size_t find_boundary(const EventsText& events, size_t from, size_t to) {
  // Room for the comma and spaces before an event, and for its first key.
  constexpr size_t kAround = 64;
  constexpr size_t kPieceBytes = 4096;
  std::array<char, kPieceBytes + 2 * kAround> piece;
  for (size_t at = from; at < to; at += kPieceBytes) {
    const size_t begin = at - std::min(at, kAround);
    const size_t end = std::min(events.text.size(), at + kPieceBytes + kAround);
    copy_text(events, begin, end, piece.data());
    const size_t found = begin + find_event_start({piece.data(), end - begin}, at - begin);
    if (found < std::min(to, at + kPieceBytes)) return found;
  }
  return to;
}

class WindowParser {
 public:
  WindowParser(const EventsText& events, size_t window_bytes)
      : events_(events),
        text_(events.text),
        window_bytes_(window_bytes),
        windows_((events.text.size() + window_bytes - 1) / window_bytes),
        boundaries_(windows_.size() + 1),
        reparse_budget_(events.text.size()) {}

  ParsedEvents run() {
    parse_all();
    ParsedEvents result;
    if (is_cancelled(events_.progress)) return result;
    const auto parts = choose_parts(result);
    result.trace = is_in_order(parts) ? take_only_worker(parts) : assemble(parts);
    return result;
  }

 private:
  void parse_all() {
    const auto count = std::min<size_t>(static_cast<size_t>(num_threads()), windows_.size());
    for (size_t i = 0; i < std::max<size_t>(1, count); ++i) {
      workers_.push_back(std::make_unique<Worker>());
      workers_.back()->trace.reserve(text_.size() / kMinEventBytes / std::max<size_t>(1, count));
    }
    std::atomic<size_t> next{0};
    std::atomic<size_t> next_worker{0};
    parallel_for(static_cast<int64_t>(workers_.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const size_t worker = next_worker.fetch_add(1);
        for (size_t w = next.fetch_add(1); w < windows_.size(); w = next.fetch_add(1)) {
          if (is_cancelled(events_.progress)) break;
          windows_[w].begin = boundary(w);
          windows_[w].end = boundary(w + 1);
          parse_window(windows_[w], worker);
          if (events_.progress == nullptr) continue;
          events_.progress->parsed_bytes += static_cast<int64_t>(window_bytes_);
        }
      }
    });
  }

  // The start of window `w`. If the next event starts far ahead, it is the boundary of all windows
  // in between.
  size_t boundary(size_t w) {
    if (w == 0) return 0;
    const size_t known = boundaries_[w].load(std::memory_order_relaxed);
    if (known != 0) return known;
    const size_t begin = w * window_bytes_;
    const size_t end = std::min(text_.size(), begin + window_bytes_);
    if (const size_t found = find_boundary(events_, begin, end); found < end) {
      boundaries_[w].store(found, std::memory_order_relaxed);
      return found;
    }
    return far_boundary(w);
  }

  // No event starts in the window. One thread searches on, and the others wait for its result, so
  // that the text is searched once.
  size_t far_boundary(size_t w) {
    const std::lock_guard lock(far_search_);
    size_t last = w + 1;
    size_t found = text_.size();
    for (; last < windows_.size(); ++last) {
      const size_t known = boundaries_[last].load(std::memory_order_relaxed);
      const size_t end = std::min(text_.size(), (last + 1) * window_bytes_);
      found = known != 0 ? known : find_boundary(events_, last * window_bytes_, end);
      if (found < end || known != 0) break;
      found = text_.size();
    }
    for (size_t i = w; i <= std::min(last, windows_.size()); ++i) {
      boundaries_[i].store(found, std::memory_order_relaxed);
    }
    return found;
  }

  void parse_window(Window& window, size_t index) {
    Worker& worker = *workers_[index];
    // No event starts after the last one, so the window that ends with the text contains the
    // closing bracket and everything after it. The windows after it are empty.
    const bool last = window.end == text_.size();
    window.worker = index;
    window.first = worker.trace.size();
    worker.trace.defects = {};
    if (window.begin >= window.end) {
      window.clean = true;
      window.stop = window.begin;
    } else if (!last && parse_fast(window, worker)) {
      window.clean = true;
      window.stop = window.end;
    } else {
      worker.trace.resize(window.first);
      worker.trace.defects = {};
      RescanBudget budget(window.end - window.begin);
      parse_tolerantly(window, worker, window.end, budget);
      const bool reached_end = last || (window.whole && window.stop == window.end);
      window.clean = reached_end || (window.whole && window.list_ended);
    }
    window.last = worker.trace.size();
    window.defects = worker.trace.defects;
  }

  bool parse_fast(const Window& window, Worker& worker) const {
    const size_t size = window.end - window.begin;
    // simdjson needs five times the memory of the text.
    if (size > kMaxFastWindows * window_bytes_) return false;
    copy_text(events_, window.begin, window.end, worker.parser.prepare(size));
    return worker.parser.parse(size, events_.offset + window.begin, worker.builder);
  }

  // Parses from the start of the window up to `end`, or to the first event that starts at or after
  // the end of the window.
  void parse_tolerantly(Window& window, Worker& worker, size_t end, RescanBudget& budget) const {
    const EventsEnd done = parse_events_tolerantly(text_.substr(window.begin, end - window.begin),
                                                   events_.offset + window.begin, worker.builder,
                                                   budget, window.end - window.begin);
    window.stop = window.begin + done.position;
    window.list_ended = done.list_ended;
    window.whole = done.whole;
  }

  // The windows whose events are used, in order. By induction each starts at an event, because the
  // previous one is clean and ends there. A window that is not clean is re-parsed, beyond its end
  // if necessary, up to an event that starts another window.
  std::vector<Window> choose_parts(ParsedEvents& result) {
    std::vector<Window> parts;
    size_t parsed_end = 0;  // all text before it is parsed
    for (size_t i = 0; i < windows_.size(); ++i) {
      // Parsed together with a previous window.
      if (windows_[i].begin < parsed_end && windows_[i].end <= parsed_end) continue;
      Window part = windows_[i];
      if (part.begin != parsed_end || !part.clean) part = reparse(parsed_end, part.end);
      parts.push_back(part);
      parsed_end = part.stop;
      result.end = part.stop;
      result.list_ended = part.list_ended;
      // The list ended, or the text ended inside an event.
      if (part.list_ended || part.stop < part.end) break;
    }
    return parts;
  }

  Window reparse(size_t begin, size_t end) {
    Window part{.begin = begin, .end = std::max(begin, end)};
    Worker& worker = *workers_.front();
    part.first = worker.trace.size();
    worker.trace.defects = {};
    parse_tolerantly(part, worker, text_.size(), reparse_budget_);
    part.last = worker.trace.size();
    part.defects = worker.trace.defects;
    return part;
  }

  // With a single worker its events are already in file order, unless some were re-parsed or lie
  // after the end of the list. A skipped event may have left its name, out of order.
  bool is_in_order(const std::vector<Window>& parts) const {
    EventId next = 0;
    for (const Window& part : parts) {
      if (part.first != next || !part.defects.empty()) return false;
      next = part.last;
    }
    return workers_.size() == 1 && next == workers_.front()->trace.size();
  }

  Trace take_only_worker(const std::vector<Window>& parts) {
    Trace trace = std::move(workers_.front()->trace);
    trace.defects = {};
    for (const Window& part : parts) trace.defects.add(part.defects);
    return trace;
  }

  Trace assemble(const std::vector<Window>& parts) {
    std::vector<TracePart> ranges;
    for (const Window& part : parts) {
      ranges.push_back({&workers_[part.worker]->trace, part.first, part.last});
    }
    Trace trace = join_parts(ranges);
    for (const Window& part : parts) trace.defects.add(part.defects);
    return trace;
  }

  const EventsText& events_;
  std::string_view text_;
  size_t window_bytes_;
  std::vector<Window> windows_;
  std::vector<std::atomic<size_t>> boundaries_;  // window starts; 0: not known yet
  std::mutex far_search_;
  RescanBudget reparse_budget_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

ParsedEvents parse_in_windows(const EventsText& events, size_t window_bytes) {
  return WindowParser(events, window_bytes).run();
}

}  // namespace epi::trace
