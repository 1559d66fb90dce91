// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/decoded_names.h"

#include "epilogue/analysis/names/decode.h"
#include "epilogue/analysis/names/op_kind.h"

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
  of_op_.resize(decoded_.size());
}

void DecodedNames::take_kinds_of_ops(const trace::Trace& trace, const trace::Links& links) {
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    const trace::EventId op = links.op[id];
    if (!trace::is_device_work(trace.category[id]) || op == trace::kNoEvent) continue;
    const uint32_t index = index_[trace.name[id]];
    if (decoded_[index].kind != Kind::kUnknown) continue;
    if (trace.category[op] != trace::Category::kCpuOp) continue;
    decoded_[index].kind = kind_of_op(trace.name_of(op));
    of_op_[index] = decoded_[index].kind != Kind::kUnknown;
  }
}

}  // namespace epi::analysis
