// SPDX-License-Identifier: Apache-2.0
// One forward as it happened: operators in order, with their depth and inputs, and the kernels that
// each of them ran.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/ops/hooks.h"

namespace epi::cli {

struct RecordedKernel {
  std::string name;
  int64_t bytes = 0;
  int64_t flops = 0;
  int64_t dur_ns = 0;
};

struct RecordedOp {
  std::string name;  // "aten::mm"
  int depth = 0;
  std::vector<Layout> inputs;           // of the tensor arguments
  std::vector<RecordedKernel> kernels;  // run by this op itself, not by those below it
};

// Listens from its construction to its destruction, in one thread.
class ForwardRecord : public Listener {
 public:
  ForwardRecord();
  ForwardRecord(const ForwardRecord&) = delete;
  ForwardRecord& operator=(const ForwardRecord&) = delete;
  ~ForwardRecord() override;

  const std::vector<RecordedOp>& ops() const { return ops_; }
  // All kernels, in order.
  std::vector<RecordedKernel> kernels() const;

  void op_begin(Op op, Args args) override;
  void op_end(Op op) override;
  void annotation_begin(std::string_view name) override;
  void annotation_end() override;
  void kernel(const KernelRun& run) override;

 private:
  std::vector<RecordedOp> ops_;
  std::vector<size_t> open_;  // indices of the ops that have not ended
};

}  // namespace epi::cli
