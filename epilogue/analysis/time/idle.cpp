// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/idle.h"

#include <algorithm>
#include <utility>

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

enum class Why : uint8_t {
  kNotLaunched,
  kOnItsWay,
  kBetween,
  kOtherStreams,
  kOtherSteps,
  kUnknown
};

// Idle moments of one cause.
struct Piece {
  Interval when;
  Why why;
  trace::LaneId lane = 0;  // of the thread that had not launched yet
};

// Divides a window's gaps by cause.
class Gaps {
 public:
  Gaps(const TraceIndex& index, const OtherWork& others)
      : trace_(index.trace), links_(index.links), others_(others) {}

  std::vector<Piece> pieces(const WindowedWork& windowed) {
    int64_t covered_to = windowed.window.begin;
    EventId before = kNoEvent;
    for (const EventId id : windowed.work) {
      add(covered_to, std::min(trace_.ts_ns[id], windowed.window.end), id, before);
      covered_to = std::max(covered_to, trace_.end_ns(id));
      before = id;
    }
    add(covered_to, windowed.window.end, kNoEvent, before);
    return std::move(pieces_);
  }

 private:
  // `next` is the work behind the gap; kNoEvent at the end of the window.
  void add(int64_t begin_ns, int64_t end_ns, EventId next, EventId before) {
    if (begin_ns >= end_ns) return;
    if (others_.of == OtherWork::Of::kSteps) {
      for (const Interval& part : without_others(begin_ns, end_ns, Why::kOtherSteps)) {
        add_part(part.begin, part.end, next, before);
      }
      return;
    }
    add_part(begin_ns, end_ns, next, before);
  }

  Intervals without_others(int64_t begin_ns, int64_t end_ns, Why why) {
    const Intervals busy = within(*others_.busy, begin_ns, end_ns);
    for (const Interval& part : busy) pieces_.push_back({part, why});
    return without({{begin_ns, end_ns}}, busy);
  }

  void add_part(int64_t begin_ns, int64_t end_ns, EventId next, EventId before) {
    // Behind the last work nothing was launched any more: the thread of the last launch tells.
    const EventId asked = next != kNoEvent ? next : before;
    const EventId launch = asked != kNoEvent ? links_.launch[asked] : kNoEvent;
    if (launch == kNoEvent) {
      pieces_.push_back({{begin_ns, end_ns}, Why::kUnknown});
      return;
    }
    const int64_t launched_ns =
        next == kNoEvent ? end_ns : std::clamp(trace_.end_ns(launch), begin_ns, end_ns);
    if (launched_ns > begin_ns) {
      pieces_.push_back({{begin_ns, launched_ns}, Why::kNotLaunched, trace_.lane[launch]});
      pieces_.push_back({{launched_ns, end_ns}, Why::kOnItsWay});
    } else if (others_.of == OtherWork::Of::kStreams) {
      for (const Interval& part : without_others(begin_ns, end_ns, Why::kOtherStreams)) {
        pieces_.push_back({part, Why::kBetween});
      }
    } else {
      pieces_.push_back({{begin_ns, end_ns}, Why::kBetween});
    }
  }

  const trace::Trace& trace_;
  const trace::Links& links_;
  const OtherWork& others_;
  std::vector<Piece> pieces_;
};

// The part of the piece that lies in [begin, end).
void add_piece(const HostTimeline& host, const Piece& piece, const Interval& part,
               IdleCauses& causes) {
  const int64_t begin = std::max(piece.when.begin, part.begin);
  const int64_t end = std::min(piece.when.end, part.end);
  if (begin >= end) return;
  switch (piece.why) {
    case Why::kNotLaunched:
      host.add(piece.lane, begin, end, causes.host);
      break;
    case Why::kOnItsWay:
      causes.on_its_way_ns += end - begin;
      break;
    case Why::kBetween:
      causes.between_ns += end - begin;
      break;
    case Why::kOtherStreams:
      causes.other_streams_ns += end - begin;
      break;
    case Why::kOtherSteps:
      causes.other_steps_ns += end - begin;
      break;
    case Why::kUnknown:
      causes.unknown_ns += end - begin;
      break;
  }
}

}  // namespace

int64_t IdleCauses::host_ns() const {
  int64_t total = 0;
  for (const int64_t ns : host) total += ns;
  return total;
}

IdleCauses idle_causes(const TraceIndex& index, const HostTimeline& host,
                       const WindowedWork& windowed, const OtherWork& others) {
  IdleCauses causes;
  for (const Piece& piece : Gaps(index, others).pieces(windowed)) {
    add_piece(host, piece, piece.when, causes);
  }
  return causes;
}

std::vector<IdleCauses> idle_over_time(const TraceIndex& index, const HostTimeline& host,
                                       const WindowedWork& windowed, size_t parts) {
  if (parts == 0) return {};
  std::vector<IdleCauses> over_time(parts);
  const auto [begin, end] = windowed.window;
  const auto count = static_cast<int64_t>(parts);
  // Begins of parts, to the nanosecond: the last part ends where the window does.
  const auto edge = [&](int64_t part) {
    return begin + (end - begin) / count * part + (end - begin) % count * part / count;
  };
  for (const Piece& piece : Gaps(index, {}).pieces(windowed)) {
    if (piece.when.begin >= piece.when.end) continue;
    int64_t part = (piece.when.begin - begin) / std::max<int64_t>(1, (end - begin) / count + 1);
    for (; part < count && edge(part) < piece.when.end; ++part) {
      const Interval cell{edge(part), edge(part + 1)};
      add_piece(host, piece, cell, over_time[static_cast<size_t>(part)]);
    }
  }
  return over_time;
}

}  // namespace epi::analysis
