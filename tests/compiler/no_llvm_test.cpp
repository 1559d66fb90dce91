// SPDX-License-Identifier: Apache-2.0
// A build without LLVM runs functions that need no generated code. Otherwise the error names the
// package to install.
#include <gtest/gtest.h>

#include "epilogue/compiler/codegen/llvm.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi {
namespace {

TEST(NoLlvm, ErrorNamesPackageAndLibraryKernelsRun) {
  if (compiler::llvm_version() != "none") GTEST_SKIP() << "this build has LLVM";
  register_cpu_backend();
  const auto negate = [](std::span<const Tensor> in) { return neg(in[0]); };
  const Compiled plain(negate, {}, {.fuse = Fuse::kNone});
  EXPECT_EQ(plain(full({2, 2}, 1)).data<float>()[3], -1);
  try {
    Compiled(negate, {}, {})(full({2, 2}, 1));
    FAIL() << "compiled without LLVM";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("install the package llvm-19-dev"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace epi
