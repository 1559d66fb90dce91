// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/code_target.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>

namespace epi::hub {
namespace {

constexpr uint16_t kCuda = 190;  // EM_CUDA
// ELF ABI version since CUDA 13. The architecture is in the second byte of the flags, earlier in
// the first.
constexpr uint8_t kNewFlags = 8;

// The line ".target sm_80" follows comments and ".version".
std::string ptx_target(std::string_view text) {
  constexpr std::string_view kWord = ".target sm_";
  const size_t at = text.substr(0, 4096).find(kWord);
  if (at == std::string_view::npos || text.find(".version") > at) return "";
  std::string_view digits = text.substr(at + kWord.size());
  digits = digits.substr(0, digits.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz"));
  return fmt::format("sm_{} PTX", digits);
}

}  // namespace

std::string code_target(std::string_view bytes) {
  if (!bytes.starts_with(ELFMAG)) return ptx_target(bytes);
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof(header) || bytes[EI_CLASS] != ELFCLASS64) return "";
  std::memcpy(&header, bytes.data(), sizeof(header));
  switch (header.e_machine) {
    case EM_X86_64:
      return header.e_type == ET_DYN ? "x86_64 library" : "";
    case EM_AARCH64:
      return header.e_type == ET_DYN ? "aarch64 library" : "";
    case kCuda: {
      const bool is_new = header.e_ident[EI_ABIVERSION] >= kNewFlags;
      return fmt::format("sm_{} cubin", header.e_flags >> (is_new ? 8 : 0) & 0xff);
    }
    default:
      return "";
  }
}

std::string code_error(const Manifest& manifest, std::string_view bytes) {
  const std::string& target = manifest.targets[0];
  std::string expected;
  if (manifest.backend == "cpu") {
    expected = target + " library";
  } else if (target.starts_with("ptx")) {
    expected = fmt::format("sm_{} PTX", target.substr(3));
  } else {
    const size_t letters = target.ends_with('a') ? 3 : 2;  // a cubin marks sm_90a as sm_90
    expected = fmt::format("sm_{} cubin", target.substr(2, target.size() - letters));
  }
  const std::string actual = code_target(bytes);
  if (actual == expected) return "";
  return fmt::format("{}: {}, the variant {} needs {}", manifest.code,
                     actual.empty() ? "unknown code format" : actual, manifest.variant, expected);
}

}  // namespace epi::hub
