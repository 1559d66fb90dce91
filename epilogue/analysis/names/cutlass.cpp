// SPDX-License-Identifier: Apache-2.0
// CUTLASS names. Its generator joins words:
//   cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8
//   cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_bf16_bf16_128x128x64_1x2x1_0_tnn_align8_...
// CUTLASS 3 also has names that are C++ types.
#include <utility>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/instruction.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

// Parser state over a name's words.
struct ParserState {
  std::array<NumberType, 5> types{};  // after the instruction
  int type_count = 0;
  int sizes_seen = 0;
  bool is_v3 = false;        // CUTLASS 3's field order
  bool instruction = false;  // seen; the types after it are the inputs'
};

void read_sizes(const Sizes& size, ParserState& state, DecodedName& out) {
  const auto [a, b, c] = size.values;
  if (state.sizes_seen == 0) out.tile = {a, b, c};
  if (state.sizes_seen == 1 && !state.is_v3) out.tile[2] = a, out.stages = b;
  if (state.sizes_seen == 1 && state.is_v3) {
    out.cluster.assign(size.values.begin(), size.values.begin() + size.count);
  }
  ++state.sizes_seen;
}

void read_flag(std::string_view word, ParserState& state, DecodedName& out) {
  if (const auto size = sizes(word)) {
    read_sizes(*size, state, out);
    return;
  }
  if (word.starts_with("sm") && number(word.substr(2, 2))) out.arch = word;
  if (word.size() == 2 && number(word) && out.arch.empty()) out.arch = sm(word);
  if (word == "tensorop" || word == "wmma") out.tensor_cores = true;
  if (word == "simt") out.tensor_cores = false;
  if (word == "splitK" || word == "splitk") out.split_k = true;
  if (const auto alignment = number_after(word, "align")) out.alignment = *alignment;
  // The stage count follows the cluster. 0 lets the compiler choose.
  if (const auto stages = number(word); stages && state.is_v3 && state.sizes_seen == 2) {
    out.stages = *stages;
  }
  if (std::string order = layout(word); !order.empty()) out.layout = std::move(order);
  add_epilogue(word, out.epilogue);
}

// "s16816gemm". CUTLASS 3 also has "gemm" and "s32x256x16_conv3d_fprop" as separate words.
bool read_instruction_word(std::string_view word, ParserState& state, DecodedName& out) {
  if (word == "gemm" || word == "fprop" || word == "dgrad" || word == "wgrad") {
    out.kind = word == "gemm" ? Kind::kGemm : Kind::kConv;
    return true;
  }
  if (state.instruction) return false;
  const auto instruction = read_instruction(word);
  const bool shape = state.is_v3 && word.size() > 1 && sizes(word.substr(1)).has_value();
  if (!instruction && !shape) return false;
  state.instruction = true;
  out.accumulate = instruction ? instruction->accumulate : blas_type(word.front());
  if (!instruction) return true;
  out.kind = instruction->kind;
  out.dtype = instruction->type;
  if (!out.tensor_cores) out.tensor_cores = instruction->tensor_cores;
  return true;
}

// Before the instruction, the output's type. After it, the inputs' types, with "void" for an absent
// one.
bool read_type(std::string_view word, ParserState& state, DecodedName& out) {
  const NumberType type = number_type(word);
  if (type == NumberType::kUnknown && !(state.is_v3 && word == "void")) return false;
  if (!state.instruction && out.kind == Kind::kUnknown) {
    out.output = type;
  } else if (state.type_count < 5 && state.sizes_seen == 0) {
    state.types[static_cast<size_t>(state.type_count++)] = type;
  }
  return true;
}

void finish_types(const ParserState& state, DecodedName& out) {
  if (state.is_v3 && state.type_count >= 5) {
    out.dtype = state.types[0];
    out.accumulate = state.types[2];
    out.output = state.types[4];
    return;
  }
  if (state.type_count > 0) out.dtype = state.types[0];
  if (out.output == NumberType::kUnknown) out.output = out.accumulate;
}

// "cute::C<128>" or "cute::_128".
std::optional<int> constant(std::string_view text) {
  if (const auto value = number_after(text, "cute::_")) return value;
  const size_t open = text.find("C<");
  if (open == std::string_view::npos || !text.ends_with('>')) return std::nullopt;
  return number(text.substr(open + 2, text.size() - open - 3));
}

std::optional<Sizes> constants(std::string_view tuple) {
  const CppName read = read_cpp_name(tuple);
  Sizes result;
  for (size_t i = 0; i < std::min<size_t>(read.arg_count, 3); ++i) {
    const auto value = constant(read.arg(i));
    if (!value) return std::nullopt;
    result.values[i] = *value;
    ++result.count;
  }
  return result.count > 0 ? std::optional(result) : std::nullopt;
}

// The dimension with unit stride of an operand: 0 or 1. -1 if its strides do not give it.
int unit_dimension(std::string_view strides) {
  const CppName read = read_cpp_name(strides);
  if (constant(read.arg(0)) == 1) return 0;
  return constant(read.arg(1)) == 1 ? 1 : -1;
}

// CollectiveMma<Mainloop<stages, cluster, ...>, tile, A, strides of A, B, strides of B, ...>
void read_collective(const CppName& collective, DecodedName& out) {
  const CppName mainloop = read_cpp_name(collective.arg(0));
  if (const size_t at = mainloop.base.find("Sm"); at != std::string_view::npos) {
    size_t end = at + 2;
    while (end < mainloop.base.size() && is_digit(mainloop.base[end])) ++end;
    if (end > at + 2) out.arch = sm(mainloop.base.substr(at + 2, end - at - 2));
  }
  out.stages = number(mainloop.arg(0)).value_or(0);
  if (contains(mainloop.base, "Gmma") || contains(mainloop.base, "Umma")) out.tensor_cores = true;
  for (size_t i = 1; i < mainloop.arg_count; ++i) {
    if (const auto cluster = constants(mainloop.arg(i))) {
      out.cluster.assign(cluster->values.begin(), cluster->values.begin() + cluster->count);
      break;
    }
  }
  if (const auto tile = constants(collective.arg(1))) out.tile = tile->values;
  out.dtype = cpp_type(collective.arg(2));
  // TiledMMA<MMA_Atom<SM90_64x128x16_F32BF16BF16_SS<...>>>: the first type is the accumulator.
  for (size_t i = 3; i < collective.arg_count; ++i) {
    if (!contains(collective.arg(i), "TiledMMA<")) continue;
    for (const std::string_view type : {"_F32", "_F16", "_S32"}) {
      if (contains(collective.arg(i), type)) {
        out.accumulate = type == "_F32"   ? NumberType::kF32
                         : type == "_F16" ? NumberType::kF16
                                          : NumberType::kS32;
      }
    }
  }
  const int a = unit_dimension(collective.arg(3));
  const int b = unit_dimension(collective.arg(5));
  if (a >= 0 && b >= 0) out.layout = {a == 1 ? 't' : 'n', b == 1 ? 'n' : 't'};
}

// CUTLASS 2: the first GemmShape is the thread block's tile, cutlass::arch::Sm80 the architecture.
void read_v2(std::string_view inner, DecodedName& out) {
  const auto from = [&](std::string_view text) {
    const size_t at = inner.find(text);
    return at == std::string_view::npos ? std::string_view() : inner.substr(at);
  };
  const CppName shape = read_cpp_name(from("GemmShape<"));
  for (size_t i = 0; i < 3; ++i) out.tile[i] = number(shape.arg(i)).value_or(0);
  if (const std::string_view arch = from("arch::Sm"); !arch.empty()) {
    out.arch = sm(arch.substr(8, arch.find_first_not_of("0123456789", 8) - 8));
  }
  if (contains(inner, "OpClassTensorOp")) out.tensor_cores = true;
  if (contains(inner, "OpClassSimt")) out.tensor_cores = false;
}

}  // namespace

bool read_cutlass_words(std::string_view name, DecodedName& out) {
  if (!name.starts_with("cutlass")) return false;
  ParserState state;
  state.is_v3 = name.starts_with("cutlass3x");
  Words words(name);
  words.next();
  while (const auto word = words.next()) {
    if (!read_instruction_word(*word, state, out) && !read_type(*word, state, out)) {
      read_flag(*word, state, out);
    }
  }
  if (out.kind == Kind::kUnknown) return false;
  finish_types(state, out);
  const bool cudnn = out.kind == Kind::kConv && contains(name, "cudnn");
  out.library = cudnn ? Library::kCudnn : Library::kCutlass;
  return true;
}

bool read_cutlass_cpp(std::string_view name, const CppName& cpp, DecodedName& out) {
  if (!cpp.scope.starts_with("cutlass")) return false;
  const std::string_view inner = cpp.arg(0);
  if (read_cutlass_words(inner, out)) {
    if (contains(cpp.scope, "cudnn")) out.library = Library::kCudnn;
    return true;
  }
  out = DecodedName();
  out.library = contains(cpp.scope, "cudnn") ? Library::kCudnn : Library::kCutlass;
  if (contains(inner, "flash::") || contains(name, "::fmha")) {
    out.kind = Kind::kAttention;
    if (contains(inner, "flash::")) out.library = Library::kFlash;
    return true;
  }
  if (contains(inner, "gemm") || contains(inner, "Gemm")) out.kind = Kind::kGemm;
  if (contains(inner, "conv::kernel") || contains(inner, "Convolution")) out.kind = Kind::kConv;
  if (contains(inner, "ReduceSplitK")) out.kind = Kind::kSplitKReduce;
  if (const size_t at = inner.find("collective::CollectiveMma<"); at != std::string_view::npos) {
    read_collective(read_cpp_name(inner.substr(at)), out);
  } else {
    read_v2(inner, out);
  }
  return true;
}

}  // namespace epi::analysis::names
