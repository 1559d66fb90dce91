// SPDX-License-Identifier: Apache-2.0
// A listener that records operators, annotations, kernels and launches during its lifetime.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epilogue/ops/hooks.h"
#include "epilogue/ops/op.h"

namespace epi {

class Recorder : public Listener {
 public:
  Recorder() { set_listener(this); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() override { set_listener(nullptr); }

  struct Kernel {
    std::string name;
    int64_t start_ns = 0;
    int64_t end_ns = 0;
    int64_t bytes = 0;
    int64_t flops = 0;
  };

  // One line per operator, annotation or kernel (prefixed with "* "),
  // indented by two spaces per level.
  const std::string& tree() const { return tree_; }
  // The operators in the order in which they started.
  const std::vector<std::string_view>& ops() const { return ops_; }
  const std::vector<Kernel>& kernels() const { return kernels_; }
  // Number of ranges that have started and not ended.
  int depth() const { return depth_; }

  void op_begin(Op op, Args) override {
    ops_.push_back(op_info(op).name);
    open_.push_back(op);
    line(op_info(op).name);
    ++depth_;
  }
  void op_end(Op op) override {
    --depth_;
    ends_match_ = ends_match_ && !open_.empty() && open_.back() == op;
    if (!open_.empty()) open_.pop_back();
  }
  void annotation_begin(std::string_view name) override {
    line(name);
    ++depth_;
  }
  void annotation_end() override { --depth_; }
  void kernel(const KernelRun& run) override {
    line("* " + std::string(run.name));
    kernels_.push_back({std::string(run.name), run.start_ns, run.end_ns, run.bytes, run.flops});
  }

  void launch_begin(const LaunchCost& cost) override { launches_.push_back(cost); }
  void launch_end() override {}
  // The cost of each kernel launch on a device.
  const std::vector<LaunchCost>& launches() const { return launches_; }

  // Whether every range ended with the operator that started it.
  bool ends_match() const { return ends_match_; }

 private:
  void line(std::string_view text) {
    tree_.append(static_cast<size_t>(depth_) * 2, ' ').append(text).append("\n");
  }

  std::string tree_;
  std::vector<std::string_view> ops_;
  std::vector<Op> open_;
  std::vector<Kernel> kernels_;
  std::vector<LaunchCost> launches_;
  int depth_ = 0;
  bool ends_match_ = true;
};

}  // namespace epi
