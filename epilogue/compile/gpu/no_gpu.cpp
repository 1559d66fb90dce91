// SPDX-License-Identifier: Apache-2.0
// What a build without CUDA has of gpu/: nothing that runs.
#include "epilogue/base/error.h"
#include "epilogue/compile/gpu/gpu_code.h"
#include "epilogue/compile/gpu/gpu_graph.h"

namespace epi::compiler {
namespace {

[[noreturn]] void refuse() { fail("compile", "this build has no CUDA"); }

}  // namespace

GpuGenerated generate_gpu(const Source&, int, UseCache) { refuse(); }
void launch_gpu(void*, uint32_t, void*, int) { refuse(); }
std::unique_ptr<GpuGraphs> make_gpu_graphs(int, int64_t) { refuse(); }
bool gpu_is_capturing(int) { refuse(); }

}  // namespace epi::compiler
