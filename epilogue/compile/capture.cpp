// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "epilogue/base/error.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

// The same layout without bytes, in a storage of its own, by which it is known.
Tensor meta_like(const Tensor& x) {
  const Extent touched = extent(x.layout());
  const int64_t elements = x.numel() == 0 ? 0 : touched.end - touched.begin;
  const auto storage = Storage::allocate(kMeta, elements * size_bytes(x.dtype()));
  return {storage, x.layout(), x.numel() == 0 ? 0 : -touched.begin, x.dtype()};
}

// Tells the dispatcher where calls go for as long as it lives.
class ActiveCapture {
 public:
  explicit ActiveCapture(Capture* capture) : before_(set_capture(capture)) {}
  ActiveCapture(const ActiveCapture&) = delete;
  ActiveCapture& operator=(const ActiveCapture&) = delete;
  ~ActiveCapture() { set_capture(before_); }

 private:
  Capture* before_;
};

class Recorder : public Capture {
 public:
  Recorder(const SymbolHints& hints, const std::vector<NamedTensor>& parameters)
      : hints_(hints), named_(parameters) {}

  Tensor add_input(const std::string& name, const Tensor& meta) {
    Node node = described(meta);
    node.kind = NodeKind::kInput;
    node.name = name;
    return remember(meta, std::move(node));
  }

  Tensor call(Op op, Args args) override {
    if (op == Op::kCopy_) return call_copy(args);
    Node node;
    node.op = op;
    std::vector<Tensor> metas;  // what the arguments below point to
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

  Graph take(const Tensor& output) {
    graph_.outputs.push_back(value_of(output));
    return std::move(graph_);
  }

 private:
  // `copy_` is a value, not a deed: its destination must be new, as those of clone() and to() are.
  Tensor call_copy(Args args) {
    const Tensor& destination = args.tensor(0);
    const bool is_new = destination.device().type == DeviceType::kMeta &&
                        values_.count(destination.storage().get()) == 0;
    if (!is_new) {
      fail("copy_", "writes into a tensor that exists: this cannot be captured");
    }
    Node node;
    node.op = Op::kCopy_;
    node.operands = {operand(args[1])};
    return finish(std::move(node), destination);
  }

  static size_t count_tensors(Args args) {
    size_t count = 0;
    for (const Arg& arg : args) {
      if (arg.kind() == Arg::Kind::kTensor) ++count;
      if (arg.kind() == Arg::Kind::kTensors) count += arg.tensors().size();
    }
    return count;
  }

  static Tensor result_of(Op op, const std::vector<Arg>& args) {
    const ActiveCapture none(nullptr);  // operators inside of operators are not ours
    return op_info(op).result(Args(args));
  }

  static Arg as_meta(const Arg& arg, std::vector<Tensor>& metas) {
    const size_t first = metas.size();
    if (arg.kind() == Arg::Kind::kTensor) {
      metas.push_back(meta_like(arg.tensor()));
      return metas.back();
    }
    if (arg.kind() != Arg::Kind::kTensors) return arg;
    for (const Tensor& tensor : arg.tensors()) metas.push_back(meta_like(tensor));
    return Arg(std::span<const Tensor>(metas).subspan(first));
  }

  Operand operand(const Arg& arg) {
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

  SymDims read(const Dims& dims) const {
    SymDims sizes;
    for (const int64_t size : dims) sizes.push_back(hints_.read(size));
    return sizes;
  }

  Node described(const Tensor& x) const {
    Node node;
    node.shape = read(x.shape());
    node.strides = read(x.strides());
    node.dtype = x.dtype();
    return node;
  }

  Tensor finish(Node node, const Tensor& result) {
    const Tensor meta = meta_like(result);
    Node typed = described(meta);
    typed.op = node.op;
    typed.operands = std::move(node.operands);
    typed.offset = node.offset;
    return remember(meta, std::move(typed));
  }

  Tensor remember(const Tensor& meta, Node node) {
    values_[meta.storage().get()] = static_cast<ValueId>(graph_.nodes.size());
    alive_.push_back(meta.storage());
    graph_.nodes.push_back(std::move(node));
    return meta;
  }

  ValueId value_of(const Tensor& x) {
    const auto known = values_.find(x.storage().get());
    if (known != values_.end()) return known->second;
    if (x.device().type == DeviceType::kMeta) {
      fail("capture", "a tensor {} has no values and is no input", to_string(x.shape()));
    }
    return parameter(x);
  }

  // A tensor with values: one of those named, or a constant. Views of one are values apart.
  ValueId parameter(const Tensor& x) {
    for (const ValueId id : parameters_) {
      const Tensor& other = graph_[id].parameter;
      const bool same = other.storage() == x.storage() && other.layout() == x.layout() &&
                        other.offset() == x.offset() && other.dtype() == x.dtype();
      if (same) return id;
    }
    Node node;
    node.kind = NodeKind::kParameter;
    for (const int64_t size : x.shape()) node.shape.emplace_back(size);
    for (const int64_t stride : x.strides()) node.strides.emplace_back(stride);
    node.dtype = x.dtype();
    node.parameter = x;
    node.name = fmt::format("constant_{}", constants_);
    for (const NamedTensor& named : named_) {
      if (named.tensor.storage() == x.storage() && named.tensor.offset() == x.offset()) {
        node.name = named.name;
      }
    }
    if (node.name.starts_with("constant_")) ++constants_;
    parameters_.push_back(static_cast<ValueId>(graph_.nodes.size()));
    graph_.nodes.push_back(std::move(node));
    return parameters_.back();
  }

  const SymbolHints& hints_;
  const std::vector<NamedTensor>& named_;
  Graph graph_;
  std::unordered_map<const Storage*, ValueId> values_;
  std::vector<std::shared_ptr<Storage>> alive_;  // so that no address is used twice
  std::vector<ValueId> parameters_;
  int constants_ = 0;
};

// Which dimensions are free, and the symbols for them: equal sizes of several inputs are one, as
// they must agree. A single input's leading dimensions are free whatever they are; among several
// inputs a size of one is fixed, because it broadcasts.
std::vector<SymDims> choose_symbols(std::span<const Tensor> inputs, SymbolHints& hints) {
  std::vector<int64_t> fixed;
  for (const Tensor& input : inputs) {
    fixed.insert(fixed.end(), input.shape().begin(), input.shape().end());
  }
  std::map<int64_t, Symbol> by_size;
  std::vector<SymDims> shapes;
  for (const Tensor& input : inputs) {
    SymDims shape;
    for (int d = 0; d < input.dim(); ++d) {
      const int64_t size = input.shape()[d];
      const bool free = d + 1 < input.dim() && (inputs.size() == 1 || size > 1);
      if (!free) {
        shape.emplace_back(size);
      } else if (inputs.size() == 1) {
        shape.push_back(SymSize::symbol(hints.add(fixed)));
      } else {
        const auto known = by_size.find(size);
        if (known == by_size.end()) by_size[size] = hints.add(fixed);
        shape.push_back(SymSize::symbol(by_size[size]));
      }
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Graph run(const Function& function, std::span<const Tensor> inputs,
          const std::vector<SymDims>& shapes, const SymbolHints& hints,
          std::span<const int64_t> sizes, const CaptureOptions& options) {
  Recorder recorder(hints, options.parameters);
  std::vector<Tensor> metas;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Dims shape;
    for (const SymSize& size : shapes[i]) shape.push_back(size.at(sizes));
    const std::string name =
        i < options.input_names.size() ? options.input_names[i] : fmt::format("x{}", i);
    metas.push_back(recorder.add_input(name, empty(shape, {inputs[i].dtype(), kMeta})));
  }
  const ActiveCapture active(&recorder);
  return recorder.take(function(metas));
}

// The sizes of this call; one counts as two, as strides of such dimensions mean nothing.
std::vector<int64_t> sizes_of_call(std::span<const Tensor> inputs, const Captured& captured) {
  std::vector<int64_t> sizes(static_cast<size_t>(captured.symbols), 2);
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t d = 0; d < captured.input_shapes[i].size(); ++d) {
      const SymSize& size = captured.input_shapes[i][d];
      if (size.is_static()) continue;
      sizes[static_cast<size_t>(size.symbols()[0])] =
          std::max<int64_t>(2, inputs[i].shape()[static_cast<int>(d)]);
    }
  }
  return sizes;
}

std::string_view name_at(const Graph& graph, size_t i) {
  if (i >= graph.nodes.size()) return "nothing";
  const Node& node = graph.nodes[i];
  return node.kind == NodeKind::kOp ? op_info(node.op).name : "a parameter";
}

void check_sizes_are_free(const Function& function, std::span<const Tensor> inputs,
                          const CaptureOptions& options, const Captured& captured) {
  const auto sizes = sizes_of_call(inputs, captured);
  const Graph plain = run(function, inputs, captured.input_shapes, SymbolHints(), sizes, options);
  const Graph& free = captured.graph;
  for (size_t i = 0; i < std::max(plain.nodes.size(), free.nodes.size()); ++i) {
    const bool both = i < plain.nodes.size() && i < free.nodes.size();
    if (both && is_same_at(free.nodes[i], plain.nodes[i], sizes)) continue;
    fail("capture",
         "the function looks at sizes: it calls {} where it calls {} for others; compile it with "
         "dynamic = off",
         name_at(plain, i), name_at(free, i));
  }
}

}  // namespace

Captured capture(const Function& function, std::span<const Tensor> inputs,
                 const CaptureOptions& options) {
  for (const Tensor& input : inputs) {
    if (!input.is_contiguous()) {
      fail("capture", "the input {} with strides {} is not row-major: pass contiguous()",
           to_string(input.shape()), to_string(input.strides()));
    }
  }
  SymbolHints hints;
  Captured result;
  if (options.dynamic) {
    result.input_shapes = choose_symbols(inputs, hints);
  } else {
    for (const Tensor& input : inputs) {
      result.input_shapes.emplace_back(input.shape().begin(), input.shape().end());
    }
  }
  result.symbols = static_cast<int>(hints.hints().size());
  result.graph = run(function, inputs, result.input_shapes, hints, hints.hints(), options);
  if (options.dynamic) check_sizes_are_free(function, inputs, options, result);
  return result;
}

}  // namespace epi::compiler
