// SPDX-License-Identifier: Apache-2.0
// Why a trace has no device work.
#include <algorithm>
#include <iterator>

#include "epilogue/analysis/step/diagnosis.h"
#include "epilogue/trace/event_args.h"

namespace epi::analysis {

using trace::EventId;

Limiter MissingWork::limiter() const {
  const bool uses_none = has_host_events && lost_launches == 0 && !is_cut && other_device.empty();
  return uses_none ? Limiter::kNoDevice : Limiter::kNotConclusive;
}

namespace {

// "Ascend Hardware", "MTIA 0": the name or label of a process, as the profilers of these devices
// write it.
std::string other_device(const trace::Trace& trace) {
  constexpr std::string_view kDevices[] = {"Ascend", "NPU", "CANN", "MTIA", "HPU",
                                           "Gaudi",  "XPU", "TPU",  "XLA",  "Neuron"};
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.is_span(id) && trace.name_of(id).starts_with("nccl:")) return "NCCL";
    if (trace.phase[id] != trace::Phase::kMetadata) continue;
    for (const char* key : {"name", "labels"}) {
      const std::string text =
          trace::string_value(trace::find_value(trace.args_of(id), key).value_or(""));
      const bool is_process = trace.name_of(id).starts_with("process_");
      if (is_process && std::any_of(std::begin(kDevices), std::end(kDevices), [&](auto device) {
            return text.find(device) != std::string::npos;
          })) {
        return text;
      }
    }
  }
  return "";
}

}  // namespace

MissingWork missing_work(const TraceIndex& index) {
  const auto& categories = index.trace.category;
  return {is_cut(index.trace), std::ssize(index.ownership.everything().lost),
          std::any_of(categories.begin(), categories.end(), trace::is_host),
          other_device(index.trace)};
}

}  // namespace epi::analysis
