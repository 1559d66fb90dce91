// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/compiler/graph/graph_recorder.h"
#include "epilogue/compiler/graph/sums.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

std::string input_name(const CaptureOptions& options, size_t i) {
  return i < options.input_names.size() ? options.input_names[i] : fmt::format("x{}", i);
}

std::string size_name(const CaptureOptions& options, const InputDim& dim) {
  return fmt::format("{}.size({})", input_name(options, static_cast<size_t>(dim.first)),
                     dim.second);
}

std::string size_name(std::span<const Tensor> inputs, const CaptureOptions& options,
                      const InputSize& rule) {
  return size_name(options, {rule.input, dimension_of(inputs, rule)});
}

// Records the function at these values of the symbols.
Graph run(const AnyFunction& function, const Captured& captured, const SymbolHints& hints,
          std::span<const int64_t> values, const CaptureOptions& options) {
  GraphRecorder recorder(hints, options.parameters);
  std::vector<Tensor> metas;
  for (size_t i = 0; i < captured.input_shapes.size(); ++i) {
    Dims shape;
    for (const SymSize& size : captured.input_shapes[i]) shape.push_back(size.at(values));
    const Layout layout{shape, strides_for(captured.input_layouts[i], shape)};
    metas.push_back(
        recorder.add_input(input_name(options, i), meta_tensor(layout, captured.input_dtypes[i])));
  }
  std::vector<int64_t> integers;
  for (const SymSize& integer : captured.integers) integers.push_back(integer.at(values));
  const ActiveCapture active(&recorder);
  return recorder.take(function({metas, integers}));
}

// The values of the symbols in this call.
std::vector<int64_t> values_of_call(const CallArgs& args, const Captured& captured) {
  std::vector<int64_t> values(static_cast<size_t>(captured.symbols));
  const auto set = [&](const SymSize& size, int64_t value) {
    if (const auto symbol = size.as_symbol()) values[static_cast<size_t>(*symbol)] = value;
  };
  for (size_t i = 0; i < args.tensors.size(); ++i) {
    for (size_t d = 0; d < captured.input_shapes[i].size(); ++d) {
      set(captured.input_shapes[i][d], args.tensors[i].shape()[static_cast<int>(d)]);
    }
  }
  for (size_t i = 0; i < args.integers.size(); ++i) set(captured.integers[i], args.integers[i]);
  return values;
}

// The dimensions that have a symbol.
std::vector<InputDim> dims_of(const std::vector<SymDims>& shapes, Symbol symbol) {
  std::vector<InputDim> dims;
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      if (shapes[i][d] == SymSize::symbol(symbol)) {
        dims.emplace_back(static_cast<int>(i), static_cast<int>(d));
      }
    }
  }
  return dims;
}

std::string text_at(const Graph& graph, size_t i) {
  if (i >= graph.nodes.size()) return "ends";
  const Node& node = graph.nodes[i];
  if (node.kind != NodeKind::kOp) return "reads a tensor";
  return fmt::format("calls {}", op_info(node.op).name);
}

Captured describe_inputs(std::span<const Tensor> inputs) {
  Captured result;
  for (const Tensor& input : inputs) {
    result.input_layouts.push_back(layout_of(input));
    result.input_dtypes.push_back(input.dtype());
  }
  return result;
}

// Where to look for the symbols of a capture: primes from `first_prime` for sizes, and for integers
// their values in the call, but at least `min_integer`.
struct Start {
  int64_t first_prime;
  int64_t min_integer;
};

// The first result of `attempt` that is not an exception.
template <typename Attempt>
auto first_that_succeeds(const std::vector<int64_t>& steps, const Attempt& attempt) {
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    try {
      return attempt(steps[i]);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the last one is thrown
    }
  }
  return attempt(steps.back());
}

// One capture per symbol in which only that symbol differs.
std::vector<OtherCapture> capture_others(const AnyFunction& function, const Captured& captured,
                                         const SymbolHints& hints, const CaptureOptions& options) {
  const auto capture_with = [&](size_t symbol, int64_t step) {
    std::vector<int64_t> values(hints.hints().begin(), hints.hints().end());
    if (__builtin_add_overflow(values[symbol], step, &values[symbol])) {
      fail("capture", "the integer {} has no neighbor", hints.hints()[symbol]);
    }
    Graph graph = run(function, captured, SymbolHints(), values, options);
    return OtherCapture{std::move(values), std::move(graph)};
  };
  std::vector<OtherCapture> others;
  for (size_t symbol = 0; symbol < hints.hints().size(); ++symbol) {
    // A large step for sizes, unlike the other primes. The function may allow only a small one, and
    // the value of an integer may be the largest or smallest.
    const bool is_size = symbol < hints.sizes();
    const std::vector<int64_t> steps =
        is_size ? std::vector<int64_t>{500, 1, -1} : std::vector<int64_t>{1, -1};
    others.push_back(
        first_that_succeeds(steps, [&](int64_t step) { return capture_with(symbol, step); }));
  }
  return others;
}

// Captures with symbols, and recognizes their products.
Captured capture_dynamic(const AnyFunction& function, const CallArgs& args,
                         const CaptureOptions& options, SizeGuess guess, const Start& start,
                         SymbolHints& hints) {
  Captured result = describe_inputs(args.tensors);
  std::vector<int64_t> avoid;
  for (const NamedTensor& parameter : options.parameters) {
    const Dims& shape = parameter.tensor.shape();
    avoid.insert(avoid.end(), shape.begin(), shape.end());
  }
  result.input_shapes = choose_symbols(args.tensors, guess, options.sizes, std::move(avoid), hints);
  const auto& fixed = options.sizes.fixed_integers;
  for (size_t i = 0; i < args.integers.size(); ++i) {
    const bool is_fixed = std::find(fixed.begin(), fixed.end(), static_cast<int>(i)) != fixed.end();
    const int64_t value = args.integers[i];
    result.integers.push_back(
        is_fixed ? SymSize(value)
                 : SymSize::symbol(hints.add_integer(std::max(value, start.min_integer))));
  }
  result.symbols = static_cast<int>(hints.hints().size());
  if (hints.hints().size() > kMaxSymbols) {
    fail("capture",
         "{} sizes and integers are dynamic, but at most {} are supported: compile with dynamic = "
         "false",
         hints.hints().size(), kMaxSymbols);
  }
  result.graph = run(function, result, hints, hints.hints(), options);
  return result;
}

// Throws if a function without symbols writes into a tensor that it creates.
void check_own_tensors(const AnyFunction& function, const Captured& captured,
                       const CaptureOptions& options) {
  const auto& nodes = captured.graph.nodes;
  const bool writes = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
    return node.kind == NodeKind::kParameter && node.written;
  });
  if (writes) difference_at(function, options, captured, {});
}

Captured capture_static(const AnyFunction& function, const CallArgs& args,
                        const CaptureOptions& options) {
  Captured result = describe_inputs(args.tensors);
  for (const Tensor& input : args.tensors) {
    result.input_shapes.emplace_back(input.shape().begin(), input.shape().end());
  }
  result.integers.assign(args.integers.begin(), args.integers.end());
  result.graph = run(function, result, SymbolHints(), {}, options);
  check_own_tensors(function, result, options);
  return result;
}

// Lower bounds for the primes. A number in the function or in a parameter may happen to be a
// multiple of one, so there are several to try. Many symbols use small primes, because their
// product must fit in 64 bits. The last one is small, for functions that do not allow large sizes:
// a sequence that must not be longer than a table.
constexpr int64_t kSmallPrime = 11;
std::vector<int64_t> primes_to_try(std::span<const Tensor> inputs) {
  int max_rank = 0;
  for (const Tensor& input : inputs) max_rank = std::max(max_rank, input.dim());
  return max_rank <= 5 ? std::vector<int64_t>{1009, 2003, 4001, kSmallPrime}
                       : std::vector<int64_t>{13, 53, 101, kSmallPrime};
}

// What became of one attempt to capture with dynamic sizes.
struct Attempt {
  std::optional<Captured> captured{};
  std::string difference{};  // the function depends on sizes
};

// A size of one, or an integer below two, is often a special case in operators. Such a case is
// checked when it occurs.
constexpr int64_t kMinUsual = 2;

std::optional<Captured> try_start(const AnyFunction& function, const CallArgs& args,
                                  const CaptureOptions& options, SizeGuess guess,
                                  const Start& start, std::string& difference) {
  SymbolHints hints(start.first_prime);
  Captured captured = capture_dynamic(function, args, options, guess, start, hints);
  if (captured.symbols == 0) {
    check_own_tensors(function, captured, options);
    return captured;
  }
  auto values = values_of_call(args, captured);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::max(values[i], i < hints.sizes() ? kMinUsual : start.min_integer);
  }
  const bool has_integers = hints.hints().size() > hints.sizes();
  const auto products_differ = difference_at(function, options, captured, values);
  if (!products_differ && !has_integers) return captured;
  auto others = capture_others(function, captured, hints, options);
  others.push_back({values, run(function, captured, SymbolHints(), values, options)});
  auto sums = with_sums(captured.graph, hints, others);
  if (!sums) {
    difference = products_differ.value_or("");
    return std::nullopt;
  }
  captured.graph = std::move(*sums);
  const auto sums_differ = difference_at(function, options, captured, values);
  if (!sums_differ) return captured;
  difference = *sums_differ;
  return std::nullopt;
}

Attempt try_dynamic(const AnyFunction& function, const CallArgs& args,
                    const CaptureOptions& options, SizeGuess guess) {
  Attempt attempt;
  const bool has_unusual = std::any_of(args.integers.begin(), args.integers.end(),
                                       [](int64_t value) { return value < kMinUsual; });
  for (const int64_t min_integer : {kMinUsual, std::numeric_limits<int64_t>::min()}) {
    if (min_integer != kMinUsual && !has_unusual) continue;
    bool too_large = false;
    for (const int64_t prime : primes_to_try(args.tensors)) {
      if (too_large != (prime == kSmallPrime)) continue;
      try {
        attempt.captured =
            try_start(function, args, options, guess, {prime, min_integer}, attempt.difference);
        if (attempt.captured) return attempt;
      } catch (const std::exception&) {  // also the function's own
        attempt.difference.clear();
        too_large = true;
      }
    }
  }
  return attempt;
}

// The sizes without which a capture succeeds, and that capture.
struct Narrowed {
  std::vector<InputDim> fixed;
  Captured captured;
};

// Fixes one dynamic size, or the first two, and so on, until the function can be captured. Equal
// sizes count as one.
std::optional<Narrowed> fix_some(const AnyFunction& function, const CallArgs& args,
                                 CaptureOptions options) {
  SymbolHints hints;
  const auto shapes = choose_symbols(args.tensors, SizeGuess::kLeading, options.sizes, {}, hints);
  std::vector<std::vector<InputDim>> sizes;
  for (size_t symbol = 0; symbol < hints.hints().size(); ++symbol) {
    auto dims = dims_of(shapes, static_cast<Symbol>(symbol));
    if (!has_free(dims, args.tensors, options.sizes.given)) sizes.push_back(std::move(dims));
  }
  const auto before = options.sizes.fixed;
  const auto attempt = [&](const std::vector<InputDim>& fixed) -> std::optional<Narrowed> {
    options.sizes.fixed = before;
    options.sizes.fixed.insert(fixed.begin(), fixed.end());
    Attempt result = try_dynamic(function, args, options, SizeGuess::kLeading);
    if (!result.captured) return std::nullopt;
    return Narrowed{fixed, std::move(*result.captured)};
  };
  for (const auto& dims : sizes) {
    if (auto found = attempt(dims)) return found;
  }
  std::vector<InputDim> first;
  for (const auto& dims : sizes) {
    first.insert(first.end(), dims.begin(), dims.end());
    if (auto found = attempt(first)) return found;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const CaptureOptions& options, const std::vector<InputDim>& dims,
                         const std::string& difference) {
  std::vector<std::string> names;
  std::vector<std::string> rules;
  for (const InputDim& dim : dims) {
    names.push_back(size_name(options, dim));
    rules.push_back(fmt::format("{{{}, {}, Size::kFixed}}", dim.first, dim.second));
  }
  fail("capture",
       "{} decided which operators ran, or their arguments ({}): fix {} with sizes = {{{}}}",
       join(names, " and "), difference, names.size() == 1 ? "it" : "them", join(rules, ", "));
}

std::string join_numbers(const std::vector<int>& numbers, const char* separator) {
  std::vector<std::string> texts;
  for (const int number : numbers) texts.push_back(fmt::format("{}", number));
  return join(texts, separator);
}

// No size could be fixed to make the capture succeed: the integers decide, or the caller said that
// all sizes are free.
[[noreturn]] void refuse_free(const AnyFunction& function, const CallArgs& args,
                              const CaptureOptions& options, const std::string& difference) {
  const auto decide = [&](const std::vector<int>& integers) {
    CaptureOptions fixed = options;
    auto& all = fixed.sizes.fixed_integers;
    all.insert(all.end(), integers.begin(), integers.end());
    if (!try_dynamic(function, args, fixed, SizeGuess::kLeading).captured &&
        !fix_some(function, args, fixed)) {
      return;
    }
    fail("capture",
         "integer {} decided which operators ran, or their arguments{}: fix it with "
         "fixed_integers = {{{}}}, or compute what depends on it outside and pass that",
         join_numbers(integers, " and "),
         difference.empty() ? "" : fmt::format(" ({})", difference), join_numbers(all, ", "));
  };
  std::vector<int> first;
  for (int i = 0; i < static_cast<int>(args.integers.size()); ++i) decide({i});
  for (int i = 0; i < static_cast<int>(args.integers.size()); ++i) {
    first.push_back(i);
    decide(first);
  }
  std::vector<std::string> names;
  for (const InputSize& rule : options.sizes.given) {
    if (rule.size == Size::kFree) names.push_back(size_name(args.tensors, options, rule));
  }
  fail("capture", "{} cannot be free: the function works only for the {} of this call",
       join(names, " and "), names.size() == 1 ? "size" : "sizes");
}

void check_integers(const CallArgs& args, const CaptureOptions& options) {
  for (const int index : options.sizes.fixed_integers) {
    if (index >= 0 && static_cast<size_t>(index) < args.integers.size()) continue;
    fail("compile", "fixed_integers: there is no integer {}, only {}", index, args.integers.size());
  }
}

// A tensor that outlives the function is the same in every run. One that the function creates
// would be shared by all calls of the compiled code.
void check_written(const Node& symbolic, const Node& plain) {
  const bool are_parameters =
      symbolic.kind == NodeKind::kParameter && plain.kind == NodeKind::kParameter;
  if (!are_parameters || !symbolic.written) return;
  if (symbolic.parameter.storage() == plain.parameter.storage()) return;
  fail("copy_",
       "the function writes into a tensor of shape {} that it creates, which cannot be captured: "
       "use its operators' results, or clone()",
       to_string(plain.shape));
}

}  // namespace

std::optional<std::string> difference_at(const AnyFunction& function, const CaptureOptions& options,
                                         const Captured& captured,
                                         std::span<const int64_t> values) {
  const Graph plain = run(function, captured, SymbolHints(), values, options);
  const Graph& symbolic = captured.graph;
  for (size_t i = 0; i < std::max(plain.nodes.size(), symbolic.nodes.size()); ++i) {
    const bool both = i < plain.nodes.size() && i < symbolic.nodes.size();
    if (both) check_written(symbolic.nodes[i], plain.nodes[i]);
    if (both && is_same_at(symbolic.nodes[i], plain.nodes[i], values)) continue;
    if (both && plain.nodes[i].kind == NodeKind::kParameter &&
        symbolic.nodes[i].kind == NodeKind::kParameter) {
      return fmt::format("it reads another tensor of shape {}", to_string(plain.nodes[i].shape));
    }
    const std::string here = text_at(plain, i);
    const std::string elsewhere = text_at(symbolic, i);
    if (here == elsewhere) return fmt::format("it {} with other arguments", here);
    return fmt::format("it {}, but {} for other sizes", here, elsewhere);
  }
  if (plain.outputs != symbolic.outputs) return "it returns a different value for other sizes";
  return std::nullopt;
}

Captured capture(const AnyFunction& function, const CallArgs& args, const CaptureOptions& options) {
  check_rules(args.tensors, options.sizes.given);
  check_integers(args, options);
  if (!options.dynamic) return capture_static(function, args, options);
  Attempt leading;
  for (const auto guess :
       {SizeGuess::kBroad, SizeGuess::kLeading, SizeGuess::kEqual, SizeGuess::kConservative}) {
    Attempt attempt = try_dynamic(function, args, options, guess);
    if (attempt.captured) return std::move(*attempt.captured);
    if (guess == SizeGuess::kLeading) leading = std::move(attempt);
  }
  capture_static(function, args, options);  // rethrows errors that do not depend on symbols
  auto narrowed = fix_some(function, args, options);
  if (!narrowed) refuse_free(function, args, options, leading.difference);
  if (!leading.difference.empty()) refuse(options, narrowed->fixed, leading.difference);
  return std::move(narrowed->captured);
}

}  // namespace epi::compiler
