// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/forward_record.h"

#include "epilogue/ops/op.h"

namespace epi::cli {

ForwardRecord::ForwardRecord() { set_listener(this); }
ForwardRecord::~ForwardRecord() { set_listener(nullptr); }

std::vector<RecordedKernel> ForwardRecord::kernels() const {
  std::vector<RecordedKernel> result;
  for (const RecordedOp& op : ops_) {
    result.insert(result.end(), op.kernels.begin(), op.kernels.end());
  }
  return result;
}

void ForwardRecord::op_begin(Op op, Args args) {
  RecordedOp recorded{std::string(op_info(op).name), static_cast<int>(open_.size()), {}, {}};
  for (const Arg& arg : args) {
    if (arg.is_tensor()) recorded.inputs.push_back(arg.tensor().layout());
  }
  open_.push_back(ops_.size());
  ops_.push_back(std::move(recorded));
}

void ForwardRecord::op_end(Op /*op*/) { open_.pop_back(); }

void ForwardRecord::annotation_begin(std::string_view /*name*/) {}
void ForwardRecord::annotation_end() {}

void ForwardRecord::kernel(const KernelRun& run) {
  EPI_CHECK(!open_.empty());
  ops_[open_.back()].kernels.push_back(
      {std::string(run.name), run.bytes, run.flops, run.end_ns - run.start_ns});
}

}  // namespace epi::cli
