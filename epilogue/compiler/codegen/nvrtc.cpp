// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <nvrtc.h>

#include <iterator>
#include <memory>

#include "epilogue/base/error.h"

namespace epi::compiler {
namespace {

// By name: in a program that already uses NVRTC this is the same library. The functions below are
// the same in both.
constexpr const char* kFiles[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

struct Nvrtc {
  decltype(&nvrtcCreateProgram) create = nullptr;
  decltype(&nvrtcCompileProgram) compile = nullptr;
  decltype(&nvrtcDestroyProgram) destroy = nullptr;
  decltype(&nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) cubin = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;
  decltype(&nvrtcGetErrorString) error_string = nullptr;
};

void* open_library() {
  for (const char* file : kFiles) {
    if (void* handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  fail("compile", "cannot load NVRTC ({}): install the CUDA toolkit 12 or 13", ::dlerror());
}

template <typename F>
void find(void* library, const char* symbol, F*& function) {
  function = reinterpret_cast<F*>(::dlsym(library, symbol));
  if (function == nullptr) fail("compile", "NVRTC does not export the function {}", symbol);
}

Nvrtc load() {
  void* library = open_library();
  Nvrtc nvrtc;
  find(library, "nvrtcCreateProgram", nvrtc.create);
  find(library, "nvrtcCompileProgram", nvrtc.compile);
  find(library, "nvrtcDestroyProgram", nvrtc.destroy);
  find(library, "nvrtcGetCUBINSize", nvrtc.cubin_size);
  find(library, "nvrtcGetCUBIN", nvrtc.cubin);
  find(library, "nvrtcGetProgramLogSize", nvrtc.log_size);
  find(library, "nvrtcGetProgramLog", nvrtc.log);
  find(library, "nvrtcGetErrorString", nvrtc.error_string);
  return nvrtc;
}

const Nvrtc& nvrtc() {
  static const Nvrtc library = load();
  return library;
}

void check(nvrtcResult result, const char* call) {
  if (result != NVRTC_SUCCESS) fail("compile", "{}: {}", call, nvrtc().error_string(result));
}

struct Destroy {
  void operator()(nvrtcProgram program) const { nvrtc().destroy(&program); }
};
using Program = std::unique_ptr<std::remove_pointer_t<nvrtcProgram>, Destroy>;

std::string log_of(nvrtcProgram program) {
  size_t size = 0;
  nvrtc().log_size(program, &size);
  std::string text(size, '\0');
  if (size > 0) nvrtc().log(program, text.data());
  return text;
}

}  // namespace

std::vector<std::byte> assemble_cuda(const std::string& source, const std::string& architecture) {
  nvrtcProgram handle = nullptr;
  check(nvrtc().create(&handle, source.c_str(), "epilogue.cu", 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  const Program program(handle);
  const std::string target = "--gpu-architecture=" + architecture;
  // --minimal omits the declarations of textures and the runtime, and takes a quarter of the time.
  const char* options[] = {target.c_str(), "--std=c++17", "--minimal"};
  const nvrtcResult compiled = nvrtc().compile(handle, std::size(options), options);
  if (compiled == NVRTC_ERROR_COMPILATION) {
    throw BugError("NVRTC rejects the generated code:\n" + log_of(handle));
  }
  check(compiled, "nvrtcCompileProgram");
  size_t size = 0;
  check(nvrtc().cubin_size(handle, &size), "nvrtcGetCUBINSize");
  std::vector<std::byte> cubin(size);
  check(nvrtc().cubin(handle, reinterpret_cast<char*>(cubin.data())), "nvrtcGetCUBIN");
  return cubin;
}

}  // namespace epi::compiler
