// SPDX-License-Identifier: Apache-2.0
// Compiles the code of all gated MLPs without biases for Hopper, so that a library with these files
// beside it needs no NVRTC:
//   glu_cubins FOLDER
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/base/output_file.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/compiler/codegen/nvrtc.h"
#include "epilogue/compiler/gpu/glu_rows.h"

namespace {

using namespace epi;

constexpr const char* kArchitecture = "sm_90a";

// {name of the file: source}
std::map<std::string, std::string> all_sources() {
  std::map<std::string, std::string> sources;
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const auto activation : {pointwise::Function::kSilu, pointwise::Function::kGelu,
                                  pointwise::Function::kGeluTanh, pointwise::Function::kRelu}) {
      compiler::GluCode code;
      code.dtype = dtype;
      code.activation = activation;
      for (std::string& source : compiler::glu_sources(code)) {
        std::string name = compiler::gpu_code_key(source, kArchitecture) + ".cubin";
        sources.try_emplace(std::move(name), std::move(source));
      }
    }
  }
  return sources;
}

int write_all(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const auto sources = all_sources();
  const std::vector files(sources.begin(), sources.end());
  parallel_for(static_cast<int64_t>(files.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto& [name, source] = files[static_cast<size_t>(i)];
      if (std::filesystem::exists(folder / name)) continue;
      const auto cubin = compiler::assemble_cuda(source, kArchitecture);
      const std::string_view text(reinterpret_cast<const char*>(cubin.data()), cubin.size());
      const auto written = write_file_atomically(folder / name, text);
      if (!written) throw Error(written.error().message);
    }
  });
  fmt::print("glu_cubins: {} files in {}\n", files.size(), folder.string());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: glu_cubins FOLDER\n");
    return 2;
  }
  try {
    return write_all(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "glu_cubins: {}\n", error.what());
    return 2;
  }
}
