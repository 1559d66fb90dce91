// SPDX-License-Identifier: Apache-2.0
// Replaces the kernels during capture: every call becomes a node, and its result a meta tensor. A
// value is identified by its storage, which it does not share with any other value, not even a view
// with its base. After a write, reads of the written tensor and of its views become reads of the
// write's value.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "epilogue/compiler/graph/graph.h"
#include "epilogue/compiler/tensor_function.h"
#include "epilogue/ops/hooks.h"

namespace epi::compiler {

// A meta tensor with its own storage.
Tensor meta_tensor(const Layout& layout, DType dtype);

// Redirects the calls of this thread to `capture` for the lifetime of the object.
class ActiveCapture {
 public:
  explicit ActiveCapture(Capture* capture) : previous_(set_capture(capture)) {}
  ActiveCapture(const ActiveCapture&) = delete;
  ActiveCapture& operator=(const ActiveCapture&) = delete;
  ~ActiveCapture() { set_capture(previous_); }

 private:
  Capture* previous_;
};

class GraphRecorder : public Capture {
 public:
  // Both arguments must outlive the recorder.
  GraphRecorder(const SymbolHints& hints, const std::vector<NamedTensor>& parameters)
      : hints_(hints), named_(parameters) {}

  Tensor add_input(const std::string& name, const Tensor& meta);
  Tensor call(Op op, Args args) override;
  // Returns the graph with these tensors as its outputs.
  Graph take(const std::vector<Tensor>& outputs);

 private:
  Tensor call_copy(Args args);
  Tensor write(const Tensor& destination, const Tensor& source);
  // Remembers which values the node will read.
  void add_reader(const Node& node);
  // The value as it is after all writes so far.
  ValueId current(ValueId id);
  Operand operand(const Arg& arg);
  SymDims read(const Dims& dims) const;
  Node node_for(const Tensor& x) const;
  Tensor finish(Node node, const Tensor& result);
  Tensor add_value(const Tensor& meta, Node node);
  ValueId value_of(const Tensor& x);
  ValueId parameter(const Tensor& x);

  const SymbolHints& hints_;
  const std::vector<NamedTensor>& named_;
  Graph graph_;
  std::unordered_map<const Storage*, ValueId> values_;
  std::vector<std::shared_ptr<Storage>> alive_;  // so that no address is reused
  std::vector<ValueId> parameters_;
  std::map<ValueId, std::vector<ValueRef>> readers_;  // operators by the roots that they read
  std::map<ValueId, ValueId> last_writes_;            // by the written base
  std::map<std::pair<ValueId, ValueId>, ValueId> renewed_views_;  // by view and its new source
  int constants_ = 0;
};

}  // namespace epi::compiler
