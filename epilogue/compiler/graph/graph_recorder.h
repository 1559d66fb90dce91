// SPDX-License-Identifier: Apache-2.0
// Takes the place of the kernels while a function is captured: every call becomes a node, and its
// result a tensor without values. A value is known by its storage, which no other value shares.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "epilogue/compiler/graph/graph.h"
#include "epilogue/compiler/tensor_function.h"
#include "epilogue/ops/hooks.h"

namespace epi::compiler {

// A tensor without values, in a storage of its own.
Tensor meta_tensor(const Layout& layout, DType dtype);

// Tells the dispatcher of this thread where calls go, for as long as it lives.
class ActiveCapture {
 public:
  explicit ActiveCapture(Capture* capture) : before_(set_capture(capture)) {}
  ActiveCapture(const ActiveCapture&) = delete;
  ActiveCapture& operator=(const ActiveCapture&) = delete;
  ~ActiveCapture() { set_capture(before_); }

 private:
  Capture* before_;
};

class GraphRecorder : public Capture {
 public:
  // Both must outlive it.
  GraphRecorder(const SymbolHints& hints, const std::vector<NamedTensor>& parameters)
      : hints_(hints), named_(parameters) {}

  Tensor add_input(const std::string& name, const Tensor& meta);
  Tensor call(Op op, Args args) override;
  // The graph that ends in this tensor.
  Graph take(const Tensor& output);

 private:
  Tensor call_copy(Args args);
  Operand operand(const Arg& arg);
  SymDims read(const Dims& dims) const;
  Node described(const Tensor& x) const;
  Tensor finish(Node node, const Tensor& result);
  Tensor remember(const Tensor& meta, Node node);
  ValueId value_of(const Tensor& x);
  ValueId parameter(const Tensor& x);

  const SymbolHints& hints_;
  const std::vector<NamedTensor>& named_;
  Graph graph_;
  std::unordered_map<const Storage*, ValueId> values_;
  std::vector<std::shared_ptr<Storage>> alive_;  // so that no address is used twice
  std::vector<ValueId> parameters_;
  int constants_ = 0;
};

}  // namespace epi::compiler
