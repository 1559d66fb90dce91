// SPDX-License-Identifier: Apache-2.0
// ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn: cuBLAS and cuDNN names by GPU
// generation. Output type, instruction, input type, tile, flags, tile k x stages, layout.
#include <utility>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/instruction.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

// The first architecture of each generation, which gives its kernels their name.
constexpr std::pair<std::string_view, const char*> kGenerations[] = {
    {"maxwell_", "sm50"}, {"pascal_", "sm60"}, {"volta_", "sm70"},  {"turing_", "sm75"},
    {"ampere_", "sm80"},  {"ada_", "sm89"},    {"hopper_", "sm90"}, {"blackwell_", "sm100"}};

void read_instruction_word(const Instruction& instruction, DecodedName& out) {
  out.kind = instruction.kind;
  out.library = out.kind == Kind::kConv ? Library::kCudnn : Library::kCublas;
  out.accumulate = instruction.accumulate;
  out.tensor_cores = instruction.tensor_cores;
  out.dtype = instruction.type;
  if (out.output == NumberType::kUnknown) out.output = instruction.accumulate;
}

void read_word(std::string_view word, bool& after_stages, DecodedName& out) {
  if (const auto size = sizes(word)) {
    if (after_stages) {
      out.tile[2] = size->values[0];
      out.stages = size->values[1];
    } else if (out.tile[0] == 0) {
      out.tile = size->values;
    }
    return;
  }
  after_stages = word == "stages";
  if (word == "splitK") out.split_k = true;
  if (const auto width = number_after(word, "ldg")) out.vector_width = *width;
  if (std::string order = layout(word); out.kind != Kind::kConv && !order.empty()) {
    out.layout = std::move(order);
  }
  add_epilogue(word, out.epilogue);
}

}  // namespace

bool read_generation(std::string_view name, DecodedName& out) {
  for (const std::string_view part : {"_5x_", "cudnn_", "infer_", "train_", "cnn_"}) {
    if (name.starts_with(part)) name.remove_prefix(part.size());
  }
  const bool tensorrt = name.starts_with("trt_");
  if (tensorrt) name.remove_prefix(4);
  for (const auto& [prefix, arch] : kGenerations) {
    if (!name.starts_with(prefix)) continue;
    DecodedName read;
    read.arch = arch;
    Words words(name.substr(prefix.size()));
    bool after_stages = false;
    while (const auto word = words.next()) {
      const NumberType type = number_type(*word);
      const bool found = read.kind != Kind::kUnknown;
      if (const auto instruction = found ? std::nullopt : read_instruction(*word)) {
        read_instruction_word(*instruction, read);
      } else if (type != NumberType::kUnknown) {
        // "sgemm_fp16" stores f16 and computes in f32. The name does not give the output type.
        if (found && !read.tensor_cores.value_or(true)) read.output = NumberType::kUnknown;
        (found ? read.dtype : read.output) = type;
      } else {
        read_word(*word, after_stages, read);
      }
    }
    if (read.kind == Kind::kUnknown) return false;
    if (tensorrt) read.library = Library::kUnknown;
    out = std::move(read);
    return true;
  }
  return false;
}

}  // namespace epi::analysis::names
