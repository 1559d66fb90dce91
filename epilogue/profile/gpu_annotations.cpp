// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "epilogue/profile/gpu_lane.h"

namespace epi::profile {

using trace::Category;
using trace::EventId;

// Steps have no span on a stream: PyTorch does not write one, and their work may run during the
// next step.
void GpuAnnotations::add_work(EventId work, EventId op) {
  for (EventId range = op; range != trace::kNoEvent; range = ranges_.parent_of(range)) {
    if (trace_.category[range] != Category::kUserAnnotation || ranges_.is_step(range)) continue;
    Span& span = spans_[{range, trace_.lane[work]}];
    span.begin_ns = std::min(span.begin_ns, trace_.ts_ns[work]);
    span.end_ns = std::max(span.end_ns, trace_.end_ns(work));
  }
}

// One nanosecond wider on each side, as Kineto writes them, so that viewers nest the work inside.
// Readers subtract it again.
void GpuAnnotations::finish() {
  for (const auto& [key, span] : spans_) {
    const auto [annotation, stream] = key;
    trace_.push({.category = Category::kGpuUserAnnotation,
                 .name = trace_.name[annotation],
                 .lane = stream,
                 .ts_ns = span.begin_ns - 1,
                 .dur_ns = span.end_ns - span.begin_ns + 2,
                 .external_id = trace_.external_id[annotation]});
  }
}

}  // namespace epi::profile
