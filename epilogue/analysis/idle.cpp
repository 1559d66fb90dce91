// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/idle.h"

#include <algorithm>

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

class Gaps {
 public:
  Gaps(const Examined& examined, const HostTimeline& host, const OtherWork& others)
      : trace_(examined.trace), links_(examined.links), host_(host), others_(others) {}

  // `next` is the work behind the gap; kNoEvent at the end of the window.
  void add(int64_t begin_ns, int64_t end_ns, EventId next, EventId before) {
    if (begin_ns >= end_ns) return;
    if (others_.of == OtherWork::Of::kSteps) {
      for (const Interval& part : without_others(begin_ns, end_ns)) {
        add_part(part.begin, part.end, next, before);
      }
      return;
    }
    add_part(begin_ns, end_ns, next, before);
  }
  const IdleCauses& causes() const { return causes_; }

 private:
  Intervals without_others(int64_t begin_ns, int64_t end_ns) {
    const Intervals busy = within(*others_.busy, begin_ns, end_ns);
    const bool of_steps = others_.of == OtherWork::Of::kSteps;
    (of_steps ? causes_.other_steps_ns : causes_.other_streams_ns) += length(busy);
    return without({{begin_ns, end_ns}}, busy);
  }

  void add_part(int64_t begin_ns, int64_t end_ns, EventId next, EventId before) {
    // Behind the last work nothing was launched any more: the thread of the last launch tells.
    const EventId asked = next != kNoEvent ? next : before;
    const EventId launch = asked != kNoEvent ? links_.launch[asked] : kNoEvent;
    if (launch == kNoEvent) {
      causes_.unknown_ns += end_ns - begin_ns;
      return;
    }
    const int64_t launched_ns =
        next == kNoEvent ? end_ns : std::clamp(trace_.end_ns(launch), begin_ns, end_ns);
    if (launched_ns > begin_ns) {
      host_.add(trace_.lane[launch], begin_ns, launched_ns, causes_.host);
      causes_.on_its_way_ns += end_ns - launched_ns;
      return;
    }
    const bool shared = others_.of == OtherWork::Of::kStreams;
    causes_.between_ns += shared ? length(without_others(begin_ns, end_ns)) : end_ns - begin_ns;
  }

  const trace::Trace& trace_;
  const trace::Links& links_;
  const HostTimeline& host_;
  const OtherWork& others_;
  IdleCauses causes_;
};

}  // namespace

int64_t IdleCauses::host_ns() const {
  int64_t total = 0;
  for (const int64_t ns : host) total += ns;
  return total;
}

IdleCauses idle_causes(const Examined& examined, const HostTimeline& host,
                       const WindowedWork& windowed, const OtherWork& others) {
  Gaps gaps(examined, host, others);
  int64_t covered_to = windowed.window.begin;
  EventId before = kNoEvent;
  for (const EventId id : windowed.work) {
    gaps.add(covered_to, std::min(examined.trace.ts_ns[id], windowed.window.end), id, before);
    covered_to = std::max(covered_to, examined.trace.end_ns(id));
    before = id;
  }
  gaps.add(covered_to, windowed.window.end, kNoEvent, before);
  return gaps.causes();
}

}  // namespace epi::analysis
