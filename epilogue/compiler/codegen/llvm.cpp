// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/llvm.h"

#include <dlfcn.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <llvm/Config/llvm-config.h>

#include <cstring>
#include <memory>

#include "epilogue/base/error.h"

namespace epi::compiler {
namespace {

// The functions of LLVM's C API that are used here, resolved by name.
#define EPI_LLVM_FUNCTIONS(X)                  \
  X(LLVMContextCreate)                         \
  X(LLVMContextDispose)                        \
  X(LLVMCreateMemoryBufferWithMemoryRangeCopy) \
  X(LLVMCreatePassBuilderOptions)              \
  X(LLVMCreateTargetMachine)                   \
  X(LLVMDisposeMemoryBuffer)                   \
  X(LLVMDisposeMessage)                        \
  X(LLVMDisposeModule)                         \
  X(LLVMDisposePassBuilderOptions)             \
  X(LLVMDisposeTargetMachine)                  \
  X(LLVMGetBufferSize)                         \
  X(LLVMGetBufferStart)                        \
  X(LLVMGetErrorMessage)                       \
  X(LLVMGetTargetFromTriple)                   \
  X(LLVMParseIRInContext)                      \
  X(LLVMRunPasses)                             \
  X(LLVMTargetMachineEmitToMemoryBuffer)

struct Llvm {
#define EPI_DECLARE(name) decltype(&::name) name = nullptr;
  EPI_LLVM_FUNCTIONS(EPI_DECLARE)
#undef EPI_DECLARE
};

#if defined(__x86_64__)
constexpr const char* kTargetParts[] = {"LLVMInitializeX86TargetInfo", "LLVMInitializeX86Target",
                                        "LLVMInitializeX86TargetMC", "LLVMInitializeX86AsmPrinter"};
#else
constexpr const char* kTargetParts[] = {
    "LLVMInitializeAArch64TargetInfo", "LLVMInitializeAArch64Target",
    "LLVMInitializeAArch64TargetMC", "LLVMInitializeAArch64AsmPrinter"};
#endif

void* symbol(void* library, const char* name) {
  void* address = ::dlsym(library, name);
  if (address == nullptr) fail("compile", "LLVM does not export the function {}", name);
  return address;
}

void* open_library() {
  for (const char* file : {"libLLVM.so.19.1", "libLLVM-19.so"}) {
    if (void* handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  fail("compile", "cannot load LLVM 19 ({}): install the package libllvm19", ::dlerror());
}

Llvm load() {
  void* library = open_library();
  Llvm llvm;
#define EPI_FIND(name) llvm.name = reinterpret_cast<decltype(&::name)>(symbol(library, #name));
  EPI_LLVM_FUNCTIONS(EPI_FIND)
#undef EPI_FIND
  for (const char* part : kTargetParts) reinterpret_cast<void (*)()>(symbol(library, part))();
  return llvm;
}

const Llvm& llvm() {
  static const Llvm functions = load();
  return functions;
}

template <typename T, typename Dispose>
auto owned(T* object, Dispose dispose) {
  return std::unique_ptr<T, Dispose>(object, dispose);
}

// LLVM's message about generated IR: a bug in our code.
[[noreturn]] void fail_with(const char* what, char* message) {
  const std::string text = message == nullptr ? "" : message;
  if (message != nullptr) llvm().LLVMDisposeMessage(message);
  throw BugError(fmt::format("{}: {}", what, text));
}

auto parse(LLVMContextRef context, const std::string& ir) {
  LLVMMemoryBufferRef buffer =
      llvm().LLVMCreateMemoryBufferWithMemoryRangeCopy(ir.data(), ir.size(), "kernels");
  LLVMModuleRef module = nullptr;
  char* message = nullptr;
  if (llvm().LLVMParseIRInContext(context, buffer, &module, &message) != 0) {  // takes ownership
    fail_with("LLVM cannot parse the generated IR", message);
  }
  return owned(module, llvm().LLVMDisposeModule);
}

auto machine_for(const Target& target) {
  LLVMTargetRef found = nullptr;
  char* message = nullptr;
  if (llvm().LLVMGetTargetFromTriple(target.triple.c_str(), &found, &message) != 0) {
    fail_with("LLVM does not support this CPU", message);
  }
  // The generic CPU plus the detected features: a model name would imply features that a virtual
  // machine may hide.
  return owned(llvm().LLVMCreateTargetMachine(found, target.triple.c_str(), "generic",
                                              target.features.c_str(), LLVMCodeGenLevelDefault,
                                              LLVMRelocPIC, LLVMCodeModelSmall),
               llvm().LLVMDisposeTargetMachine);
}

void optimize(LLVMModuleRef module, LLVMTargetMachineRef machine) {
  const auto options =
      owned(llvm().LLVMCreatePassBuilderOptions(), llvm().LLVMDisposePassBuilderOptions);
  // The IR is already vectorized: only folding and loop-invariant code motion remain.
  constexpr const char* kPasses =
      "function(early-cse,instcombine<no-verify-fixpoint>,loop-mssa(licm),gvn,dce)";
  if (LLVMErrorRef error = llvm().LLVMRunPasses(module, kPasses, machine, options.get())) {
    fail_with("LLVM cannot optimize the generated IR", llvm().LLVMGetErrorMessage(error));
  }
}

}  // namespace

std::string_view llvm_version() { return LLVM_VERSION_STRING; }

std::vector<std::byte> assemble(const std::string& ir, const Target& target) {
  const auto context = owned(llvm().LLVMContextCreate(), llvm().LLVMContextDispose);
  const auto module = parse(context.get(), ir);
  const auto machine = machine_for(target);
  optimize(module.get(), machine.get());
  char* message = nullptr;
  LLVMMemoryBufferRef emitted = nullptr;
  if (llvm().LLVMTargetMachineEmitToMemoryBuffer(machine.get(), module.get(), LLVMObjectFile,
                                                 &message, &emitted) != 0) {
    fail_with("LLVM cannot assemble the generated IR", message);
  }
  const auto buffer = owned(emitted, llvm().LLVMDisposeMemoryBuffer);
  const auto* start = reinterpret_cast<const std::byte*>(llvm().LLVMGetBufferStart(buffer.get()));
  return {start, start + llvm().LLVMGetBufferSize(buffer.get())};
}

}  // namespace epi::compiler
