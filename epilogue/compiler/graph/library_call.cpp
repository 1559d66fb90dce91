// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/library_call.h"

#include <deque>

#include "epilogue/ops/dispatch.h"

namespace epi::compiler {
namespace {

// Owns the tensors and lists that the arguments of the call refer to.
class Arguments {
 public:
  explicit Arguments(std::span<const int64_t> symbols) : symbols_(symbols) {}

  template <typename TensorOf>
  void add(const Operand& operand, const TensorOf& tensor_of) {
    if (std::holds_alternative<NoOperand>(operand)) args_.emplace_back();
    if (const auto* ref = std::get_if<ValueRef>(&operand)) add(tensor_of(*ref));
    if (const auto* refs = std::get_if<std::vector<ValueRef>>(&operand)) {
      std::vector<Tensor>& list = lists_.emplace_back();
      for (const ValueRef& ref : *refs) list.push_back(tensor_of(ref));
      args_.emplace_back(std::span<const Tensor>(list));
    }
    if (const auto* size = std::get_if<SymSize>(&operand)) args_.emplace_back(size->at(symbols_));
    if (const auto* dims = std::get_if<SymDims>(&operand)) {
      Dims& numbers = dims_.emplace_back();
      for (const SymSize& size : *dims) numbers.push_back(size.at(symbols_));
      args_.emplace_back(numbers);
    }
    if (const auto* number = std::get_if<double>(&operand)) args_.emplace_back(*number);
    if (const auto* flag = std::get_if<bool>(&operand)) args_.emplace_back(*flag);
    if (const auto* text = std::get_if<std::string>(&operand)) {
      args_.emplace_back(std::string_view(*text));
    }
  }
  void add(Tensor tensor) { args_.emplace_back(tensors_.emplace_back(std::move(tensor))); }

  std::span<const Arg> args() const { return args_; }

 private:
  std::span<const int64_t> symbols_;
  std::deque<Tensor> tensors_;  // a deque keeps addresses stable
  std::deque<Dims> dims_;
  std::deque<std::vector<Tensor>> lists_;
  std::vector<Arg> args_;
};

}  // namespace

void call_library(const Node& node, const std::function<Tensor(const ValueRef&)>& tensor_of,
                  std::span<const int64_t> symbols, const Tensor& out) {
  Arguments arguments(symbols);
  if (node.op == Op::kCopy_) arguments.add(out);  // pure in the graph, in place in the library
  if (node.in_place) {
    arguments.add(node.operands[1], tensor_of);
  } else {
    for (const Operand& operand : node.operands) arguments.add(operand, tensor_of);
  }
  dispatch_into(node.op, arguments.args(), out);
}

}  // namespace epi::compiler
