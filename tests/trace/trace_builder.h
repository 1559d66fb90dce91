// SPDX-License-Identifier: Apache-2.0
// Builds small traces event by event. Times are in microseconds. Events keep the order in which
// they are added: the first has the id 0.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::trace {

// Converts from microseconds. Fractions are rounded to nanoseconds.
struct Microseconds {
  int64_t ns = 0;

  template <std::integral Number>
  constexpr Microseconds(Number us) : ns(1000 * static_cast<int64_t>(us)) {}
  Microseconds(double us) : ns(std::llround(1000 * us)) {}
};

// Where a host event runs, and its ids and arguments.
struct OnHost {
  int64_t thread = 1;
  int64_t external_id = 0;
  int64_t correlation = 0;
  std::string args{};  // a JSON object
};

// Where GPU work runs, and the call that launches it.
struct OnDevice {
  int64_t device = 0;
  int64_t stream = 7;
  std::string args{};       // of the work
  int64_t external_id = 0;  // of the work
  int64_t correlation = 0;  // for work without a launch; launched work has a unique one
  int64_t thread = 1;       // of the call
  std::string call{};       // if empty, the usual one
  Microseconds call_dur = 2;
};

class TraceBuilder {
 public:
  TraceBuilder& op(std::string_view name, Microseconds begin, Microseconds dur,
                   const OnHost& on = {}) {
    return host(Category::kCpuOp, name, begin, dur, on);
  }
  TraceBuilder& annotation(std::string_view name, Microseconds begin, Microseconds dur,
                           const OnHost& on = {}) {
    return host(Category::kUserAnnotation, name, begin, dur, on);
  }
  // ProfilerStep#`number`.
  TraceBuilder& step(int64_t number, Microseconds begin, Microseconds dur, const OnHost& on = {}) {
    return annotation("ProfilerStep#" + std::to_string(number), begin, dur, on);
  }
  // A runtime call that starts nothing, unless work with its correlation id is added.
  TraceBuilder& call(std::string_view name, Microseconds begin, Microseconds dur,
                     const OnHost& on = {}) {
    return host(Category::kCudaRuntime, name, begin, dur, on);
  }
  // A frame of Python's stack.
  TraceBuilder& frame(std::string_view name, Microseconds begin, Microseconds dur,
                      const OnHost& on = {}) {
    return host(Category::kPythonFunction, name, begin, dur, on);
  }
  TraceBuilder& host(Category category, std::string_view name, Microseconds begin, Microseconds dur,
                     const OnHost& on = {}) {
    return event({.category = category,
                  .ts_ns = begin.ns,
                  .dur_ns = dur.ns,
                  .external_id = on.external_id,
                  .correlation = on.correlation},
                 name, {kProcess, on.thread}, on.args);
  }

  // Work that runs at `begin`, and the call that launches it at `launch`.
  TraceBuilder& kernel(std::string_view name, Microseconds launch, Microseconds begin,
                       Microseconds dur, const OnDevice& on = {}) {
    return launched(Category::kKernel, "cudaLaunchKernel", name, launch, begin, dur, on);
  }
  TraceBuilder& copy(std::string_view name, Microseconds launch, Microseconds begin,
                     Microseconds dur, const OnDevice& on = {}) {
    return launched(Category::kGpuMemcpy, "cudaMemcpyAsync", name, launch, begin, dur, on);
  }
  TraceBuilder& memset(Microseconds launch, Microseconds begin, Microseconds dur,
                       const OnDevice& on = {}) {
    return launched(Category::kGpuMemset, "cudaMemsetAsync", "Memset (Device)", launch, begin, dur,
                    on);
  }
  // A call that launches everything that `and_kernel` adds after it, such as a graph.
  TraceBuilder& launch(std::string_view name, Microseconds begin, Microseconds dur,
                       OnHost on = {}) {
    on.correlation = ++last_correlation_;
    return call(name, begin, dur, on);
  }
  // One more kernel of the last launch.
  TraceBuilder& and_kernel(std::string_view name, Microseconds begin, Microseconds dur,
                           OnDevice on = {}) {
    on.correlation = last_correlation_;
    return work(Category::kKernel, name, begin, dur, on);
  }
  // A kernel without a launch. An operator with the same external id calls it.
  TraceBuilder& unlaunched(std::string_view name, Microseconds begin, Microseconds dur,
                           const OnDevice& on = {}) {
    return work(Category::kKernel, name, begin, dur, on);
  }
  TraceBuilder& work(Category category, std::string_view name, Microseconds begin, Microseconds dur,
                     const OnDevice& on = {}) {
    return event({.category = category,
                  .ts_ns = begin.ns,
                  .dur_ns = dur.ns,
                  .external_id = on.external_id,
                  .correlation = on.correlation},
                 name, {on.device, on.stream}, on.args);
  }

  // Any event. Its name, lane and arguments are those given here.
  TraceBuilder& event(const Event& event, std::string_view name, const Lane& lane = {},
                      std::string_view args = "") {
    events_.push_back({event, std::string(name), lane, std::string(args)});
    return *this;
  }
  TraceBuilder& property(std::string_view key, std::string_view value) {
    properties_.emplace_back(key, value);
    return *this;
  }
  TraceBuilder& gpu(std::string_view name, int sms) {
    return property("deviceProperties", R"([{"name": ")" + std::string(name) + R"(", "numSms": )" +
                                            std::to_string(sms) + "}]");
  }
  TraceBuilder& step_pattern(std::string_view pattern) {
    step_pattern_ = pattern;
    return *this;
  }

  // The id of the event that was added last. If a call was added with its work, that of the work.
  EventId last() const { return static_cast<EventId>(events_.size() - 1); }

  Trace trace() const {
    Trace trace;
    std::string all_args;
    for (const Added& added : events_) {
      Event event = added.event;
      event.name = trace.names.intern(added.name);
      event.lane = trace.find_or_add_lane(added.lane);
      event.args = {all_args.size(), static_cast<uint32_t>(added.args.size())};
      all_args += added.args;
      trace.push(event);
    }
    const auto owner = std::make_shared<const std::string>(std::move(all_args));
    trace.args_text = {owner, owner->data()};
    trace.properties = properties_;
    trace.step_pattern = step_pattern_;
    return trace;
  }

 private:
  static constexpr int64_t kProcess = 1000;  // of all threads

  struct Added {
    Event event;
    std::string name;
    Lane lane;
    std::string args;
  };

  TraceBuilder& launched(Category category, std::string_view usual_call, std::string_view name,
                         Microseconds launch_at, Microseconds begin, Microseconds dur,
                         OnDevice on) {
    launch(on.call.empty() ? usual_call : on.call, launch_at, on.call_dur, {.thread = on.thread});
    on.correlation = last_correlation_;
    return work(category, name, begin, dur, on);
  }

  std::vector<Added> events_;
  std::vector<std::pair<std::string, std::string>> properties_;
  std::string step_pattern_;
  int64_t last_correlation_ = 1000;  // above those that tests choose
};

}  // namespace epi::trace
