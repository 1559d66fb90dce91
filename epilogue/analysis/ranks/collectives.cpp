// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/collectives.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "epilogue/analysis/index/enclosing.h"
#include "epilogue/analysis/index/op_inputs.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

constexpr std::string_view kCollectiveName = "Collective name";

// Letters of a name in lower case: "allreduce" for "All_Reduce".
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') letters += static_cast<char>(c - 'A' + 'a');
    if (c >= 'a' && c <= 'z') letters += c;
  }
  return letters;
}

// The dtypes of "Collective name" and others, which are those of torch.ScalarType.
std::optional<int64_t> scalar_bytes(std::string_view type) {
  static constexpr std::pair<std::string_view, int64_t> kTypes[] = {
      {"Byte", 1},  {"Char", 1},   {"Bool", 1},         {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1},
      {"Short", 2}, {"Half", 2},   {"BFloat16", 2},     {"Int", 4},           {"Float", 4},
      {"Long", 8},  {"Double", 8}, {"ComplexFloat", 8}, {"ComplexDouble", 16}};
  for (const auto& [name, bytes] : kTypes) {
    if (name == type) return bytes;
  }
  return std::nullopt;
}

std::string text_of(std::string_view args, std::string_view key) {
  const auto token = trace::find_value(args, key);
  if (!token) return "";
  return token->starts_with('"') ? trace::string_value(*token) : std::string(*token);
}

std::optional<int64_t> integer_of(std::string_view args, std::string_view key) {
  const auto token = trace::find_value(args, key);
  return token ? trace::parse_integer_token(*token) : std::nullopt;
}

bool is_communication_op(std::string_view name) {
  return name.starts_with("nccl:") || name.starts_with("c10d::");
}

class Reader {
 public:
  explicit Reader(const TraceIndex& index) : index_(index), trace_(index.trace) {}

  std::optional<Collective> read(EventId kernel) const {
    Collective result;
    result.kernel = kernel;
    // Newer files have the arguments at the kernel, too.
    const std::string_view args = args_of(kernel);
    const EventId op = find_op(kernel);
    const std::string named = text_of(args, kCollectiveName);
    if (letters_of(named) == "wait") return std::nullopt;
    result.kind = collective_kind(!named.empty()   ? std::string_view(named)
                                  : op != kNoEvent ? trace_.name_of(op)
                                                   : trace_.name_of(kernel));
    result.group = text_of(args, "Process Group Name");
    if (result.group.empty()) result.group = text_of(args, "Process Group ID");
    result.group_ranks = text_of(args, "Process Group Ranks");
    result.sequence = integer_of(args, "Seq");
    result.group_size = integer_of(args, "Group size");
    if (result.group_size && *result.group_size < 1) result.group_size.reset();
    if (const auto bytes = scalar_bytes(text_of(args, "dtype"))) {
      const auto size = [&](std::string_view key) -> std::optional<int64_t> {
        const auto count = integer_of(args, key);
        int64_t product = 0;
        if (!count || *count < 0 || __builtin_mul_overflow(*count, *bytes, &product)) return {};
        return product;
      };
      result.in_bytes = size("In msg nelems");
      result.out_bytes = size("Out msg nelems");
    } else if (op != kNoEvent) {
      result.in_bytes = input_bytes(op);
    }
    return result;
  }

 private:
  // The arguments that describe the collective: at the kernel, or at `record_param_comms` around
  // its launch.
  std::string_view args_of(EventId kernel) const {
    const auto has_name = [&](EventId id) {
      return trace::find_value(trace_.args_of(id), kCollectiveName).has_value();
    };
    if (has_name(kernel)) return trace_.args_of(kernel);
    const EventId op = find_enclosing(index_, index_.links.op[kernel], has_name);
    return op == kNoEvent ? std::string_view() : trace_.args_of(op);
  }
  EventId find_op(EventId kernel) const {
    return find_enclosing(index_, index_.links.op[kernel],
                          [&](EventId id) { return is_communication_op(trace_.name_of(id)); });
  }
  // The tensors of `nccl:all_reduce`, if shapes were recorded.
  std::optional<int64_t> input_bytes(EventId op) const {
    double bytes = 0;
    for (const OpInput& input : op_inputs(trace_, op)) {
      if (input.is_tensor()) bytes += input.stored_bytes();
    }
    constexpr double kMax = 9e18;
    if (bytes <= 0 || bytes > kMax) return std::nullopt;
    return static_cast<int64_t>(bytes);
  }

  const TraceIndex& index_;
  const trace::Trace& trace_;
};

}  // namespace

std::string collective_kind(std::string_view name) {
  // A kernel's name without its arguments: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL".
  name = name.substr(0, name.find('('));
  for (const std::string_view prefix : {"nccl:", "c10d::", "ncclDevKernel_", "ncclKernel_"}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  // The order matters: a reduce-scatter is not a reduce.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kKinds = {
      {{"allreduce", "all_reduce"},
       {"allgather", "all_gather"},
       {"alltoall", "all_to_all"},
       {"reducescatter", "reduce_scatter"},
       {"sendrecv", "send_recv"},
       {"broadcast", "broadcast"},
       {"reduce", "reduce"},
       {"gather", "gather"},
       {"scatter", "scatter"},
       {"send", "send"},
       {"recv", "recv"}}};
  const std::string letters = letters_of(name);
  for (const auto& [start, kind] : kKinds) {
    if (letters.starts_with(start)) return std::string(kind);
  }
  while (name.starts_with('_')) name.remove_prefix(1);
  while (name.ends_with('_')) name.remove_suffix(1);
  return std::string(name);
}

std::vector<Collective> collectives(const TraceIndex& index) {
  const Reader reader(index);
  std::vector<Collective> result;
  for (EventId id = 0; id < index.trace.size(); ++id) {
    if (!index.trace.is_span(id) || index.trace.category[id] != trace::Category::kKernel) continue;
    if (index.names[index.trace.name[id]].kind != Kind::kComm) continue;
    if (auto collective = reader.read(id)) result.push_back(std::move(*collective));
  }
  std::stable_sort(result.begin(), result.end(), [&](const Collective& a, const Collective& b) {
    return index.links.launch_ns[a.kernel] < index.links.launch_ns[b.kernel];
  });
  std::map<std::string, int64_t> counts;
  for (Collective& collective : result) collective.position = counts[collective.group]++;
  return result;
}

}  // namespace epi::analysis
