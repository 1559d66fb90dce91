// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/decoded_names.h"
#include "epilogue/analysis/names/decode.h"

namespace epi::analysis {

DecodedNames::DecodedNames(const trace::Trace& trace) : places_(trace.names.size(), 0), read_(1) {
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    if (!trace::is_device_work(trace.category[id])) continue;
    uint32_t& place = places_[trace.name[id]];
    if (place != 0) continue;
    place = static_cast<uint32_t>(read_.size());
    read_.push_back(decode_name(trace.name_of(id)));
    // A copy or a set is one whatever it is called.
    if (trace.category[id] == trace::Category::kGpuMemcpy) read_.back().kind = Kind::kMemcpy;
    if (trace.category[id] == trace::Category::kGpuMemset) read_.back().kind = Kind::kMemset;
  }
}

}  // namespace epi::analysis
