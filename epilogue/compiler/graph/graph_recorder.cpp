// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/graph_recorder.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/ops/dispatch.h"

namespace epi::compiler {
namespace {

Tensor meta_like(const Tensor& x) { return meta_tensor(x.layout(), x.dtype()); }

size_t count_tensors(Args args) {
  size_t count = 0;
  for (const Arg& arg : args) {
    if (arg.kind() == Arg::Kind::kTensor) ++count;
    if (arg.kind() == Arg::Kind::kTensors) count += arg.tensors().size();
  }
  return count;
}

// Replaces the tensors of an argument by meta tensors, which are stored in `metas`. It must have
// capacity for all of them, so that references stay valid.
Arg as_meta(const Arg& arg, std::vector<Tensor>& metas) {
  const size_t first = metas.size();
  if (arg.kind() == Arg::Kind::kTensor) {
    metas.push_back(meta_like(arg.tensor()));
    return metas.back();
  }
  if (arg.kind() != Arg::Kind::kTensors) return arg;
  for (const Tensor& tensor : arg.tensors()) metas.push_back(meta_like(tensor));
  return Arg(std::span<const Tensor>(metas).subspan(first));
}

// Operators called by other operators are not recorded: they only compute their results.
class ResultsOnly : public Capture {
 public:
  Tensor call(Op op, Args args) override { return result_of(op_info(op), args); }
};

Tensor result_of(Op op, const std::vector<Arg>& args) {
  ResultsOnly results;
  const ActiveCapture active(&results);
  return result_of(op_info(op), Args(args));
}

// Views of one tensor are separate parameters: a write into one would not be seen in the others.
void check_written_parameters(const Graph& graph, const std::vector<ValueId>& parameters) {
  for (const ValueId written : parameters) {
    if (!graph[written].written) continue;
    for (const ValueId other : parameters) {
      if (other == written || !overlap(graph[written].parameter, graph[other].parameter)) continue;
      fail("copy_",
           "the function writes into {}, whose memory overlaps that of {}: capture one tensor, and "
           "take "
           "views of it inside the function",
           graph[written].name, graph[other].name);
    }
  }
}

}  // namespace

Tensor meta_tensor(const Layout& layout, DType dtype) {
  if (numel(layout.shape) == 0) return {Storage::allocate(kMeta, 0), layout, 0, dtype};
  const Extent touched = extent(layout);
  const int64_t elements = touched.end - touched.begin;
  return {Storage::allocate(kMeta, elements * size_bytes(dtype)), layout, -touched.begin, dtype};
}

Tensor GraphRecorder::add_input(const std::string& name, const Tensor& meta) {
  Node node = node_for(meta);
  node.kind = NodeKind::kInput;
  node.name = name;
  return add_value(meta, std::move(node));
}

Tensor GraphRecorder::call(Op op, Args args) {
  if (op == Op::kCopy_) return call_copy(args);
  Node node;
  node.op = op;
  std::vector<Tensor> metas;
  metas.reserve(count_tensors(args));
  std::vector<Arg> meta_args;
  for (const Arg& arg : args) {
    node.operands.push_back(operand(arg));
    meta_args.push_back(as_meta(arg, metas));
  }
  const Tensor result = result_of(op, meta_args);
  if (op_info(op).kind == OpKind::kView) {
    node.offset = hints_.read(result.offset() - metas[0].offset());
  }
  return finish(std::move(node), result);
}

// A copy into a new tensor, as in clone() and to(), is a pure operator in the graph.
Tensor GraphRecorder::call_copy(Args args) {
  const Tensor& destination = args.tensor(0);
  const bool is_new = destination.device().type == DeviceType::kMeta &&
                      values_.count(destination.storage().get()) == 0;
  if (!is_new) return write(destination, args.tensor(1));
  Node node;
  node.op = Op::kCopy_;
  node.operands = {operand(args[1])};
  return finish(std::move(node), destination);
}

Tensor GraphRecorder::write(const Tensor& destination, const Tensor& source) {
  const ValueId target = value_of(destination);
  const ValueId root = root_of(graph_, target);
  const ValueId base = base_of(graph_, target);
  ValueId copied = value_of(source);
  if (root_of(graph_, copied) == root) {  // the order of the copy is unspecified
    Node node;
    node.op = Op::kCopy_;
    node.operands = {ValueRef{copied, std::nullopt}};
    const Layout dense{source.shape(), contiguous_strides(source.shape())};
    copied = value_of(finish(std::move(node), meta_tensor(dense, source.dtype())));
  }
  Node node;
  node.op = Op::kCopy_;
  node.in_place = true;
  node.operands = {ValueRef{target, std::nullopt}, ValueRef{copied, std::nullopt}};
  if (const auto readers = readers_.find(root); readers != readers_.end()) {
    node.operands.emplace_back(readers->second);
  }
  node.shape = graph_[root].shape;
  node.strides = graph_[root].strides;
  node.dtype = graph_[root].dtype;
  graph_.nodes[static_cast<size_t>(base)].written = true;
  last_writes_[base] = static_cast<ValueId>(graph_.nodes.size());
  add_reader(node);
  graph_.nodes.push_back(std::move(node));
  return destination;
}

void GraphRecorder::add_reader(const Node& node) {
  if (is_view(node)) return;
  const auto reader = static_cast<ValueId>(graph_.nodes.size());
  for_each_ref(node, [&](const ValueRef& ref) {
    auto& readers = readers_[root_of(graph_, ref.id)];
    if (readers.empty() || readers.back().id != reader) readers.push_back({reader, std::nullopt});
  });
}

ValueId GraphRecorder::current(ValueId id) {
  if (last_writes_.empty()) return id;
  if (!is_view(graph_[id])) {
    const auto written = last_writes_.find(base_of(graph_, id));
    return written == last_writes_.end() ? id : written->second;
  }
  const ValueId source = std::get<ValueRef>(graph_[id].operands[0]).id;
  const ValueId renewed = current(source);
  if (renewed == source) return id;
  const auto [known, is_new] =
      renewed_views_.emplace(std::pair(id, renewed), static_cast<ValueId>(graph_.nodes.size()));
  if (is_new) {
    Node view = graph_[id];
    view.operands[0] = ValueRef{renewed, std::nullopt};
    graph_.nodes.push_back(std::move(view));
  }
  return known->second;
}

Graph GraphRecorder::take(const std::vector<Tensor>& outputs) {
  if (outputs.empty()) fail("capture", "the function returns no tensor");
  for (const Tensor& output : outputs) {
    if (!output.defined()) fail("capture", "the function returns an undefined tensor");
    graph_.outputs.push_back(value_of(output));
  }
  check_written_parameters(graph_, parameters_);
  return std::move(graph_);
}

Operand GraphRecorder::operand(const Arg& arg) {
  switch (arg.kind()) {
    case Arg::Kind::kNone:
      return NoOperand{};
    case Arg::Kind::kTensor:
      return ValueRef{value_of(arg.tensor()), std::nullopt};
    case Arg::Kind::kTensors: {
      std::vector<ValueRef> refs;
      for (const Tensor& tensor : arg.tensors()) refs.push_back({value_of(tensor), std::nullopt});
      return refs;
    }
    case Arg::Kind::kInt:
      return hints_.read(arg.integer());
    case Arg::Kind::kFloat:
      return arg.number();
    case Arg::Kind::kBool:
      return arg.flag();
    case Arg::Kind::kInts:
      return read(arg.ints());
    case Arg::Kind::kString:
      return std::string(arg.text());
  }
  return NoOperand{};
}

SymDims GraphRecorder::read(const Dims& dims) const {
  SymDims sizes;
  for (const int64_t size : dims) sizes.push_back(hints_.read(size));
  return sizes;
}

Node GraphRecorder::node_for(const Tensor& x) const {
  Node node;
  node.shape = read(x.shape());
  node.strides = read(x.strides());
  node.dtype = x.dtype();
  return node;
}

Tensor GraphRecorder::finish(Node node, const Tensor& result) {
  const Tensor meta = meta_like(result);
  Node typed = node_for(meta);
  typed.op = node.op;
  typed.operands = std::move(node.operands);
  typed.offset = node.offset;
  add_reader(typed);
  return add_value(meta, std::move(typed));
}

Tensor GraphRecorder::add_value(const Tensor& meta, Node node) {
  values_[meta.storage().get()] = static_cast<ValueId>(graph_.nodes.size());
  alive_.push_back(meta.storage());
  graph_.nodes.push_back(std::move(node));
  return meta;
}

ValueId GraphRecorder::value_of(const Tensor& x) {
  const auto known = values_.find(x.storage().get());
  if (known != values_.end()) return current(known->second);
  if (x.device().type == DeviceType::kMeta) {
    fail("capture", "a tensor of shape {} has no values and is not an input", to_string(x.shape()));
  }
  return current(parameter(x));
}

// A tensor with values: a named parameter or a constant. Views of one tensor are separate values.
ValueId GraphRecorder::parameter(const Tensor& x) {
  for (const ValueId id : parameters_) {
    const Tensor& other = graph_[id].parameter;
    const bool same = other.storage() == x.storage() && other.layout() == x.layout() &&
                      other.offset() == x.offset() && other.dtype() == x.dtype();
    if (same) return id;
  }
  Node node;
  node.kind = NodeKind::kParameter;
  node.shape.assign(x.shape().begin(), x.shape().end());
  node.strides.assign(x.strides().begin(), x.strides().end());
  node.dtype = x.dtype();
  node.parameter = x;
  for (const NamedTensor& named : named_) {
    const bool same = named.tensor.storage() == x.storage() && named.tensor.offset() == x.offset();
    if (same) node.name = named.name;
  }
  if (node.name.empty()) node.name = fmt::format("constant_{}", constants_++);
  parameters_.push_back(static_cast<ValueId>(graph_.nodes.size()));
  graph_.nodes.push_back(std::move(node));
  return parameters_.back();
}

}  // namespace epi::compiler
