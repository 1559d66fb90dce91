// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/decoded_names.h"
#include "epilogue/analysis/names/decode.h"

namespace epi::analysis {

DecodedNames::DecodedNames(const trace::Trace& trace) : index_(trace.names.size(), 0), decoded_(1) {
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    if (!trace::is_device_work(trace.category[id])) continue;
    uint32_t& index = index_[trace.name[id]];
    if (index != 0) continue;
    index = static_cast<uint32_t>(decoded_.size());
    decoded_.push_back(decode_name(trace.name_of(id)));
    // The event's category decides whether it is a copy or a memset, whatever its name.
    if (trace.category[id] == trace::Category::kGpuMemcpy) decoded_.back().kind = Kind::kMemcpy;
    if (trace.category[id] == trace::Category::kGpuMemset) decoded_.back().kind = Kind::kMemset;
  }
}

}  // namespace epi::analysis
