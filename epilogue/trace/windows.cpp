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
#include <cstdint>
#include <cstring>
#include <deque>
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
// How many windows are decompressed in advance, beside one for each thread.
constexpr size_t kWindowsAhead = 4;

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

// The text after the bracket that opens the list. Only a part that was waited for may be read.
class ListText {
 public:
  ListText(const InputText& input, size_t offset) : input_(input), offset_(offset) {}

  size_t offset() const { return offset_; }
  size_t wait_for(size_t bytes) const { return input_.wait_for(offset_ + bytes) - offset_; }
  void read_ahead(size_t bytes) const { input_.read_ahead(offset_ + bytes); }
  size_t expected_bytes() const { return std::max(input_.expected_bytes(), offset_) - offset_; }

  std::string_view part(size_t begin, size_t end) const {
    return {input_.data() + offset_ + begin, end - begin};
  }
  // Copies a part, from the file descriptor if there is one.
  void copy(size_t begin, size_t end, char* to) const {
    size_t at = begin;
    while (input_.fd() >= 0 && at < end) {
      const ssize_t got =
          ::pread(input_.fd(), to + (at - begin), end - at, static_cast<off_t>(offset_ + at));
      if (got <= 0) break;  // fall back to the mapping
      at += static_cast<size_t>(got);
    }
    std::memcpy(to + (at - begin), part(at, end).data(), end - at);
  }
  // The next position in [from, to) that looks like the start of an event. `to` if there is none.
  size_t find_boundary(size_t from, size_t to) const {
    // Room for the comma and spaces before an event, and for its first key.
    constexpr size_t kAround = 64;
    constexpr size_t kPieceBytes = 4096;
    std::array<char, kPieceBytes + 2 * kAround> piece;
    for (size_t at = from; at < to; at += kPieceBytes) {
      const size_t begin = at - std::min(at, kAround);
      const size_t end = wait_for(at + kPieceBytes + kAround);
      copy(begin, end, piece.data());
      const size_t found = begin + find_event_start({piece.data(), end - begin}, at - begin);
      if (found < std::min(to, at + kPieceBytes)) return found;
    }
    return to;
  }

 private:
  const InputText& input_;
  size_t offset_;
};

class WindowParser {
 public:
  WindowParser(const ListText& text, size_t window_bytes, ReadProgress* progress)
      : text_(text), window_bytes_(window_bytes), progress_(progress) {}

  ParsedEvents run() {
    parse_all();
    ParsedEvents result;
    if (is_cancelled(progress_)) return result;
    const auto parts = choose_parts(result);
    result.trace = is_in_order(parts) ? take_only_worker(parts) : assemble(parts);
    return result;
  }

 private:
  void parse_all() {
    const size_t expected = text_.expected_bytes();
    const size_t windows = (expected + window_bytes_ - 1) / window_bytes_;
    const size_t count = std::clamp<size_t>(windows, 1, static_cast<size_t>(num_threads()));
    for (size_t i = 0; i < count; ++i) {
      workers_.push_back(std::make_unique<Worker>());
      workers_.back()->trace.reserve(expected / kMinEventBytes / count);
    }
    std::atomic<size_t> next_worker{0};
    parallel_for(static_cast<int64_t>(count), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const size_t worker = next_worker.fetch_add(1);
        while (Window* window = take_window()) {
          parse_window(*window, worker);
          if (progress_ == nullptr) continue;
          progress_->parsed_bytes += static_cast<int64_t>(window_bytes_);
        }
      }
    });
    if (is_cancelled(progress_)) return;
    const size_t size = text_.wait_for(SIZE_MAX - text_.offset());
    count_total(size);
    reparse_budget_ = RescanBudget(size);
  }

  // The next window, with its boundaries. Null at the end of the text, or if cancelled.
  Window* take_window() {
    const size_t w = next_window_.fetch_add(1);
    if (is_cancelled(progress_)) return nullptr;
    count_total(text_.expected_bytes());
    text_.read_ahead((w + workers_.size() + kWindowsAhead) * window_bytes_);
    if (!exists(w)) return nullptr;
    const size_t begin = boundary(w);
    const size_t end = boundary(w + 1);
    const std::lock_guard lock(mutex_);
    windows_.resize(std::max(windows_.size(), w + 1));
    windows_[w].begin = begin;
    windows_[w].end = end;
    return &windows_[w];  // a deque does not move its elements
  }

  // The estimate improves while the text is decompressed.
  void count_total(size_t bytes) {
    if (progress_ == nullptr) return;
    const auto total = static_cast<int64_t>(bytes);
    progress_->total_bytes += total - counted_.exchange(total);
  }

  // Whether the text reaches into window `w`.
  bool exists(size_t w) const {
    const size_t begin = w * window_bytes_;
    return text_.wait_for(begin + 1) > begin;
  }

  // The start of window `w`. If the next event starts far ahead, it is the boundary of all windows
  // in between. After the last window, the end of the text.
  size_t boundary(size_t w) {
    if (w == 0) return 0;
    if (const size_t known = known_boundary(w); known != 0) return known;
    const size_t begin = w * window_bytes_;
    const size_t end = text_.wait_for(begin + window_bytes_);
    if (const size_t found = text_.find_boundary(begin, end); found < end) {
      set_boundaries(w, w, found);
      return found;
    }
    return far_boundary(w);
  }

  // No event starts in the window. One thread searches on, and the others wait for its result, so
  // that the text is searched once.
  size_t far_boundary(size_t w) {
    const std::lock_guard lock(far_search_);
    size_t last = w + 1;
    for (; !is_cancelled(progress_) && exists(last); ++last) {
      if (const size_t known = known_boundary(last); known != 0) {
        set_boundaries(w, last, known);
        return known;
      }
      const size_t end = text_.wait_for((last + 1) * window_bytes_);
      if (const size_t found = text_.find_boundary(last * window_bytes_, end); found < end) {
        set_boundaries(w, last, found);
        return found;
      }
    }
    const size_t end = text_.wait_for(last * window_bytes_);
    set_boundaries(w, last, end);
    return end;
  }

  size_t known_boundary(size_t w) {
    const std::lock_guard lock(mutex_);
    return w < boundaries_.size() ? boundaries_[w] : 0;
  }

  void set_boundaries(size_t first, size_t last, size_t at) {
    const std::lock_guard lock(mutex_);
    boundaries_.resize(std::max(boundaries_.size(), last + 1));
    std::fill(boundaries_.begin() + first, boundaries_.begin() + last + 1, at);
  }

  void parse_window(Window& window, size_t index) {
    Worker& worker = *workers_[index];
    // No event starts after the last one, so the window that ends with the text contains the
    // closing bracket and everything after it. The windows after it are empty.
    const bool last = text_.wait_for(window.end + 1) == window.end;
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
    text_.copy(window.begin, window.end, worker.parser.prepare(size));
    return worker.parser.parse(size, text_.offset() + window.begin, worker.builder);
  }

  // Parses from the start of the window up to `end`, or to the first event that starts at or after
  // the end of the window.
  void parse_tolerantly(Window& window, Worker& worker, size_t end, RescanBudget& budget) const {
    const EventsEnd done = parse_events_tolerantly(text_.part(window.begin, text_.wait_for(end)),
                                                   text_.offset() + window.begin, worker.builder,
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
    parse_tolerantly(part, worker, SIZE_MAX - text_.offset(), reparse_budget_);
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

  const ListText& text_;
  size_t window_bytes_;
  ReadProgress* progress_;
  std::atomic<int64_t> counted_ = 0;  // of the total of the progress
  std::atomic<size_t> next_window_ = 0;
  std::mutex mutex_;  // of windows_ and boundaries_
  std::deque<Window> windows_;
  std::vector<size_t> boundaries_;  // window starts; 0: not known yet
  std::mutex far_search_;
  RescanBudget reparse_budget_{0};
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

ParsedEvents parse_in_windows(const InputText& input, size_t offset, ReadProgress* progress,
                              size_t window_bytes) {
  const ListText text(input, offset);
  return WindowParser(text, window_bytes, progress).run();
}

}  // namespace epi::trace
