// SPDX-License-Identifier: Apache-2.0
// Builds small traces event by event. Times are in nanoseconds.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "epilogue/trace/trace.h"

namespace epi::trace {

class TraceMaker {
 public:
  // Adds a span and returns its id.
  EventId add(Category category, std::string_view name, int64_t ts_ns, int64_t dur_ns,
              int64_t external_id = 0, std::string_view args = "", Lane lane = {100, 100}) {
    return push({.category = category,
                 .name = trace_.names.intern(name),
                 .lane = trace_.find_or_add_lane(lane),
                 .ts_ns = ts_ns,
                 .dur_ns = dur_ns,
                 .external_id = external_id,
                 .args = text(args)});
  }
  EventId op(std::string_view name, int64_t ts_ns, int64_t dur_ns, int64_t external_id = 0,
             std::string_view args = "") {
    return add(Category::kCpuOp, name, ts_ns, dur_ns, external_id, args);
  }
  EventId kernel(std::string_view name, int64_t ts_ns, int64_t dur_ns, int64_t external_id) {
    return add(Category::kKernel, name, ts_ns, dur_ns, external_id, "", {0, 7});
  }
  EventId push(const Event& event) { return trace_.push(event); }

  Trace& trace() { return trace_; }
  Trace take() {
    const auto owner = std::make_shared<const std::string>(std::move(args_));
    trace_.args_text = {owner, owner->data()};
    return std::move(trace_);
  }
  ArgsRange text(std::string_view args) {
    const ArgsRange range{args_.size(), static_cast<uint32_t>(args.size())};
    args_ += args;
    return range;
  }

 private:
  Trace trace_;
  std::string args_;
};

}  // namespace epi::trace
