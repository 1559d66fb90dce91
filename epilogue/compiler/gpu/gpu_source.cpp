// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>

#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/compiler/gpu/gpu_code.h"
#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "epilogue/compiler/gpu/gpu_mlp.h"

namespace epi::compiler {

namespace {

std::string text_of(const std::string& name, const Kernel& kernel) {
  if (const auto* pointwise = std::get_if<PointwiseKernel>(&kernel.body)) {
    return emit_cuda_pointwise(name, pointwise->code);
  }
  const auto* gemm = std::get_if<GemmKernel>(&kernel.body);
  return gemm == nullptr ? "" : emit_hopper_tiles(name, gemm->code, {});
}

// A GEMM in all forms that sizes choose from.
std::string printable_text(const std::string& name, const Kernel& kernel) {
  const auto* gemm = std::get_if<GemmKernel>(&kernel.body);
  if (gemm == nullptr) return text_of(name, kernel);
  return text_of(name, kernel) + emit_hopper_stream(stream_name(name), gemm->code, {}) +
         emit_hopper_decode(decode_name(name), gemm->code, {});
}

}  // namespace

Source write_cuda_source(const std::vector<Kernel>& kernels) {
  Source source;
  std::map<std::string, std::string> names;  // by source: equal code shares a name
  std::string functions;
  for (const Kernel& kernel : kernels) {
    const std::string text = text_of(kernel.name, kernel);
    if (text.empty()) {
      source.names.push_back(kernel.name);
      source.texts.emplace_back();
      continue;
    }
    auto& name = names[text];
    if (name.empty()) {
      name = fmt::format("{}_{}", kernel.name, names.size() - 1);
      if (std::holds_alternative<PointwiseKernel>(kernel.body)) functions += text_of(name, kernel);
    }
    source.names.push_back(name);
    source.texts.push_back(printable_text(name, kernel));
  }
  if (!functions.empty()) source.ir = cuda_prelude() + functions;
  return source;
}

std::string printable_cuda(const std::vector<Kernel>& kernels, const Source& source) {
  std::map<std::string, std::string> gemms;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (std::holds_alternative<GemmKernel>(kernels[i].body))
      gemms[source.names[i]] = source.texts[i];
  }
  if (gemms.empty()) return source.ir;
  std::string out = (source.ir.empty() ? cuda_prelude() : source.ir) + hopper_prelude();
  for (const auto& [name, text] : gemms) out += text;
  return out;
}

std::string gemm_source(const std::string& name, const GemmCode& code, const HopperTile& tile) {
  return cuda_prelude() + hopper_prelude(tile) + emit_hopper_tiles(name, code, tile);
}

std::string gemm_source(const std::string& name, const GemmCode& code, const HopperStream& stream) {
  return cuda_prelude() + hopper_prelude(stream) +
         emit_hopper_stream(stream_name(name), code, stream);
}

std::string gemm_source(const std::string& name, const GemmCode& code, const HopperDecode& decode) {
  return cuda_prelude() + hopper_prelude(decode) +
         emit_hopper_decode(decode_name(name), code, decode);
}

std::string mlp_source(const std::string& name, const GemmCode& first, const GemmCode& second) {
  return cuda_prelude() + hopper_prelude(HopperMlp{}) + emit_hopper_mlp(name, first, second);
}

std::string mlp_name(const std::string& gemm) { return gemm + "_mlp"; }
std::string decode_name(const std::string& gemm) { return gemm + "_decode"; }
std::string stream_name(const std::string& gemm) { return gemm + "_stream"; }

}  // namespace epi::compiler
