// SPDX-License-Identifier: Apache-2.0
// The models of a trace's steps, annotations and operators, and what they need. Everything is
// computed when it is first used and kept, so that verbs pay only for what they show. Several
// threads may use it at once.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "epilogue/analysis/step/step_model.h"
#include "epilogue/analysis/time/device_work.h"
#include "epilogue/analysis/time/idle.h"
#include "epilogue/analysis/time/step_graph.h"
#include "epilogue/base/lazy.h"

namespace epi::analysis {

class StepModels {
 public:
  // The index must outlive it.
  explicit StepModels(const TraceIndex& index) : index_(index) {}

  const TraceIndex& index() const { return index_; }

  // The steps. The whole trace if it marks none.
  const StepGroup& steps() const;
  const StepGroup& whole_trace() const;
  // The group that verdicts are about: the steps, or the whole trace if most launches are missing
  // or the steps own no device work.
  const StepGroup& judged() const;
  // All annotations by name, without the steps.
  const std::vector<StepGroup>& annotations() const;
  // The annotations or operators with these names (`named_instances`). Not kept.
  StepGroup named(std::string_view title, const NameTest& is_named) const;
  StepGroup named(std::string_view name) const;

  const std::vector<DeviceWork>& devices() const;
  // The one with the most busy time. None without device work.
  const DeviceWork* shown_device() const;
  // What a device did in the window of a step.
  TimeShares shares(const StepModel& step, const DeviceWork& device) const;
  // The idle intervals of a device over the whole trace, also before its first work and after its
  // last.
  const std::vector<IdleGap>& gaps(const DeviceWork& device) const;
  // Those of the shown device in the window of a step.
  std::vector<IdleGap> gaps(const StepModel& step) const;

  const HostTimeline& host() const;
  const StepGraphs& graphs() const;

 private:
  StepGroup group_of(InstanceGroup instances) const;
  StepModel model_of(const Instance& instance) const;
  Interval window_of(const Instance& instance) const;

  const TraceIndex& index_;
  Lazy<StepGroup> steps_;
  Lazy<StepGroup> whole_trace_;
  Lazy<std::vector<StepGroup>> annotations_;
  Lazy<std::vector<DeviceWork>> devices_;
  Lazy<const DeviceWork*> shown_device_;
  Lazy<std::vector<std::vector<IdleGap>>> gaps_;
  Lazy<HostTimeline> host_;
  Lazy<StepGraphs> graphs_;
};

// The union of work by class in a window, in one pass. `work` may be in any order. Its `others_ns`
// and `idle_ns` are 0.
TimeShares shares_of(const TraceIndex& index, std::span<const trace::EventId> work,
                     const Interval& window);

}  // namespace epi::analysis
