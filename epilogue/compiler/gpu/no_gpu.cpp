// SPDX-License-Identifier: Apache-2.0
// Stubs for a build without CUDA. They all fail.
#include "epilogue/base/error.h"
#include "epilogue/compiler/gpu/gpu_code.h"
#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "epilogue/compiler/gpu/gpu_graph.h"
#include "epilogue/compiler/gpu/gpu_mlp.h"
#include "epilogue/glu.h"

namespace epi::compiler {
namespace {

[[noreturn]] void refuse() { fail("compile", "this build has no CUDA support"); }

}  // namespace

GpuGenerated generate_gpu(const Source&, int, UseCache) { refuse(); }
std::shared_ptr<const GpuCode> load_gpu_code(std::span<const std::byte>, int) { refuse(); }
std::vector<size_t> parameter_bytes(void*) { refuse(); }
void allow_shared_bytes(void*, int64_t, int) { refuse(); }
void* GpuCode::find(const std::string&) const { refuse(); }
TensorMap make_tensor_map(const MapMatrix&, int, int) { refuse(); }
void launch_gpu(const GpuLaunch&, void**, int, CUstream_st*) { refuse(); }
bool gpu_overlaps_launches(int) { refuse(); }
std::unique_ptr<GpuGraphs> make_gpu_graphs(int, int64_t) { refuse(); }
bool gpu_is_capturing(int) { refuse(); }
bool gpu_has_custom_gemms(int) { refuse(); }
GpuGemm::GpuGemm(std::string, GemmCode, std::vector<Tensor>, int, UseCache, int) { refuse(); }
GpuGemmCall GpuGemm::bind(int64_t, int64_t) const { refuse(); }
bool GpuGemm::is_fast_for(int64_t) const { refuse(); }
std::vector<std::string> GpuGemm::forms() const { refuse(); }
void GpuGemmCall::set_weights(const std::byte*, const std::byte*) { refuse(); }
GpuGemmWeight GpuGemmCall::weight(const std::byte*) const { refuse(); }
void GpuGemmCall::wait_for_weights() { refuse(); }
bool GpuGemm::is_from_cache() const { refuse(); }
std::string GpuGemm::cache_error() const { refuse(); }
void GpuGemmCall::start(const std::byte*, std::byte*, std::span<std::byte* const>, int,
                        CUstream_st*) const {
  refuse();
}
void GpuGemmCall::start(const std::byte*, int64_t, const GpuGemmWeight&, const GpuGemmWeight&,
                        std::byte*, std::span<std::byte* const>, int, CUstream_st*) const {
  refuse();
}
GpuMlp::GpuMlp(const std::string&, GemmCode, GemmCode, int, UseCache) { refuse(); }
std::optional<HopperMlp> GpuMlp::choose(int64_t) const { refuse(); }
void GpuMlp::prepare() const { refuse(); }
void GpuMlp::start(const HopperMlp&, int64_t, const GpuMlpData&, bool, CUstream_st*) const {
  refuse();
}
bool GpuMlp::is_prepared() const { refuse(); }
bool GpuMlp::is_from_cache() const { refuse(); }
std::string GpuMlp::cache_error() const { refuse(); }
CUstream_st* gpu_stream(int) { refuse(); }

}  // namespace epi::compiler

const char* epi_glu_status_text(epi_glu_status status) {
  return status == EPI_GLU_OK ? "success" : "this build has no CUDA support";
}
epi_glu_status epi_glu_create(const epi_glu_block*, epi_glu** out) {
  if (out != nullptr) *out = nullptr;
  return EPI_GLU_UNSUPPORTED;
}
void epi_glu_destroy(epi_glu*) {}
epi_glu_status epi_glu_prepare(epi_glu*) { return EPI_GLU_UNSUPPORTED; }
const char* epi_glu_message(void) { return ""; }
size_t epi_glu_workspace_bytes(const epi_glu*, int64_t, epi_glu_path) { return 0; }
epi_glu_status epi_glu_run(const epi_glu*, const epi_glu_call*) { return EPI_GLU_UNSUPPORTED; }
