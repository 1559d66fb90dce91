// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/target.h"

#include <cstdlib>
#include <string_view>

#include "epilogue/base/machine.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace epi::compiler {
namespace {

#if defined(__x86_64__)

// Linux grants tile registers on request, to the whole process.
bool may_use_tiles() {
  constexpr int kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

void add_amx(Target& target) {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return;
  constexpr unsigned kBf16 = 1U << 22;
  constexpr unsigned kTile = 1U << 24;
  constexpr unsigned kInt8 = 1U << 25;
  if ((edx & kTile) == 0 || !may_use_tiles()) return;
  target.features += ",+amx-tile,+prfchw";
  if ((edx & kBf16) != 0) {
    target.features += ",+amx-bf16";
    target.amx = true;
  }
  // Rows below full tiles need vpdpbusd.
  if ((edx & kInt8) != 0 && !target.int8_dots.empty()) {
    target.features += ",+amx-int8";
    target.amx_int8 = true;
  }
}

// vdpbf16ps is twice as fast as f32 multiply-add on Zen 4, according to published figures, and half
// as fast on Emerald Rapids, which has AMX instead. Compare the peaks that `epilogue bench linear
// --dtype bf16` prints with EPILOGUE_ISA=avx512 and avx512_bf16.
bool is_amd() {
  __builtin_cpu_init();
  return __builtin_cpu_is("amd") != 0;
}

Target detect() {
  Target target;
  target.triple = "x86_64-unknown-linux-gnu";
  target.data_layout =
      "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";
  if (cpu_isa() == Isa::kBaseline) return target;
  target.features = "+avx,+avx2,+fma,+f16c";
  target.lanes = 8;
  target.converts_f16 = true;
  if (cpu_isa() != Isa::kAvx512) return target;
  // EVEX512 tells LLVM that 512-bit registers are available, not only encodable.
  target.features += ",+avx512f,+avx512bw,+avx512dq,+avx512vl,+evex512";
  target.lanes = 16;
  target.registers = 32;
  const char* requested = std::getenv("EPILOGUE_ISA");
  const std::string_view limit = requested == nullptr ? "" : requested;
  const bool may_use_pairs = limit == "avx512_bf16" || (limit.empty() && is_amd());
  if (__builtin_cpu_supports("avx512bf16") && may_use_pairs) {
    target.features += ",+avx512bf16";
    target.bf16_pairs = "llvm.x86.avx512bf16.dpbf16ps.512";
  }
  const bool may_use_vnni = limit == "avx512_vnni" || limit.empty();
  if (__builtin_cpu_supports("avx512vnni") && may_use_vnni) {
    target.features += ",+avx512vnni";
    target.int8_dots = "llvm.x86.avx512.vpdpbusd.512";
  }
  if (limit.empty()) add_amx(target);
  return target;
}

#else

Target detect() {
  Target target;
  target.triple = "aarch64-unknown-linux-gnu";
  target.data_layout = "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32";
  target.features = "+neon";
  target.registers = 32;
  target.converts_f16 = true;
  const char* limit = std::getenv("EPILOGUE_ISA");
  const bool limited = limit != nullptr;
  if (!limited && (::getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0) {
    target.features += ",+bf16";
    target.bfmmla = true;
  }
  if (!limited && (::getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0) {
    target.features += ",+i8mm";
    target.smmla = true;
  }
  const bool may_use_dots = !limited || std::string_view(limit) == "dotprod";
  if (may_use_dots && (::getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) {
    target.features += ",+dotprod";
    target.int8_dots = "llvm.aarch64.neon.sdot.v4i32.v16i8";
  }
  if (has_fmlal()) {
    target.features += ",+fp16fml";
    target.fmlal = true;
  }
  return target;
}

#endif

}  // namespace

const Target& host_target() {
  static const Target target = [] {
    Target found = detect();
    found.l1_bytes = cache_bytes(1);
    return found;
  }();
  return target;
}

}  // namespace epi::compiler
