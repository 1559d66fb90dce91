// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/object_code.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "epilogue/base/error.h"

namespace epi::compiler {
namespace {

// Reads the tables of the object. Every access is bounds-checked.
class ElfView {
 public:
  explicit ElfView(std::span<const std::byte> object) : object_(object) {
    header_ = at<Elf64_Ehdr>(0);
    const bool is_ours = std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
                         header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_type == ET_REL;
    EPI_CHECK(is_ours);
    for (size_t i = 0; i < header_.e_shnum; ++i) {
      sections_.push_back(at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
    }
  }

  const std::vector<Elf64_Shdr>& sections() const { return sections_; }

  template <typename T>
  T at(size_t offset) const {
    EPI_CHECK(offset <= object_.size() && sizeof(T) <= object_.size() - offset);
    T value;
    std::memcpy(&value, object_.data() + offset, sizeof(T));
    return value;
  }
  std::span<const std::byte> bytes(const Elf64_Shdr& section) const {
    EPI_CHECK(section.sh_offset <= object_.size() &&
              section.sh_size <= object_.size() - section.sh_offset);
    return object_.subspan(section.sh_offset, section.sh_size);
  }
  template <typename T>
  std::vector<T> rows(const Elf64_Shdr& section) const {
    std::vector<T> result;
    for (size_t i = 0; i + sizeof(T) <= section.sh_size; i += sizeof(T)) {
      result.push_back(at<T>(section.sh_offset + i));
    }
    return result;
  }
  std::string text(const Elf64_Shdr& strings, size_t offset) const {
    const auto all = bytes(strings);
    EPI_CHECK(offset < all.size());
    const auto* start = reinterpret_cast<const char*>(all.data()) + offset;
    return {start, strnlen(start, all.size() - offset)};
  }

 private:
  std::span<const std::byte> object_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
};

// Patches `place` to refer to `target`, which includes the addend.
#if defined(__x86_64__)
void relocate(uint32_t type, std::byte* place, const std::byte* target) {
  EPI_CHECK(type == R_X86_64_PC32 || type == R_X86_64_PLT32 || type == R_X86_64_64);
  if (type == R_X86_64_64) {
    const auto address = reinterpret_cast<uint64_t>(target);
    std::memcpy(place, &address, sizeof address);
    return;
  }
  const int64_t distance = target - place;
  const auto near = static_cast<int32_t>(distance);
  EPI_CHECK(near == distance);
  std::memcpy(place, &near, sizeof near);
}
#else
// The low 12 bits of an address, scaled by the access, in an instruction's immediate field.
uint32_t low_bits(uint32_t instruction, uint64_t address, int scale) {
  return instruction | static_cast<uint32_t>((address & 0xFFF) >> scale) << 10;
}

void relocate(uint32_t type, std::byte* place, const std::byte* target) {
  const auto address = reinterpret_cast<uint64_t>(target);
  const auto here = reinterpret_cast<uint64_t>(place);
  uint32_t code = 0;
  std::memcpy(&code, place, sizeof code);
  switch (type) {
    case R_AARCH64_ADR_PREL_PG_HI21: {
      const auto pages = static_cast<int64_t>((address >> 12) - (here >> 12));
      code |= static_cast<uint32_t>(pages & 3) << 29 | static_cast<uint32_t>((pages >> 2) & 0x7FFFF)
                                                           << 5;
      break;
    }
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
      code = low_bits(code, address, 0);
      break;
    case R_AARCH64_LDST16_ABS_LO12_NC:
      code = low_bits(code, address, 1);
      break;
    case R_AARCH64_LDST32_ABS_LO12_NC:
      code = low_bits(code, address, 2);
      break;
    case R_AARCH64_LDST64_ABS_LO12_NC:
      code = low_bits(code, address, 3);
      break;
    case R_AARCH64_LDST128_ABS_LO12_NC:
      code = low_bits(code, address, 4);
      break;
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      code |= static_cast<uint32_t>((static_cast<int64_t>(address - here) >> 2) & 0x3FFFFFF);
      break;
    default:
      throw BugError(fmt::format("generated code has an unsupported relocation of type {}", type));
  }
  std::memcpy(place, &code, sizeof code);
}
#endif

size_t rounded_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

bool is_loaded(const Elf64_Shdr& section) { return (section.sh_flags & SHF_ALLOC) != 0; }

// The offset of every section from the start of the memory.
struct Placement {
  std::vector<size_t> places;
  size_t size_bytes = 0;
};

Placement place_sections(const ElfView& elf) {
  Placement placement;
  for (const Elf64_Shdr& section : elf.sections()) {
    const size_t alignment = std::max<size_t>(section.sh_addralign, 1);
    const size_t place = rounded_up(placement.size_bytes, alignment);
    placement.places.push_back(place);
    if (is_loaded(section)) placement.size_bytes = place + section.sh_size;
  }
  return placement;
}

void copy_sections(const ElfView& elf, const Placement& placement, std::byte* memory) {
  for (size_t i = 0; i < elf.sections().size(); ++i) {
    const Elf64_Shdr& section = elf.sections()[i];
    if (!is_loaded(section) || section.sh_type == SHT_NOBITS) continue;
    const auto bytes = elf.bytes(section);
    std::copy(bytes.begin(), bytes.end(), memory + placement.places[i]);
  }
}

// The address of a symbol. An external symbol has no section, and kernels must not use one.
std::byte* address_of(const Elf64_Sym& symbol, const Placement& placement, std::byte* memory) {
  EPI_CHECK(symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < placement.places.size());
  return memory + placement.places[symbol.st_shndx] + symbol.st_value;
}

void relocate_section(const ElfView& elf, const Elf64_Shdr& relocations,
                      const std::vector<Elf64_Sym>& symbols, const Placement& placement,
                      std::byte* memory) {
  const size_t patched = relocations.sh_info;
  EPI_CHECK(patched < elf.sections().size());
  const Elf64_Shdr& section = elf.sections()[patched];
  if (!is_loaded(section)) return;
  for (const Elf64_Rela& rela : elf.rows<Elf64_Rela>(relocations)) {
    EPI_CHECK(rela.r_offset + sizeof(uint32_t) <= section.sh_size);
    const size_t index = ELF64_R_SYM(rela.r_info);
    EPI_CHECK(index < symbols.size());
    relocate(static_cast<uint32_t>(ELF64_R_TYPE(rela.r_info)),
             memory + placement.places[patched] + rela.r_offset,
             address_of(symbols[index], placement, memory) + rela.r_addend);
  }
}

}  // namespace

CodeMemory::CodeMemory(size_t size_bytes)
    : size_bytes_(
          rounded_up(std::max<size_t>(size_bytes, 1), static_cast<size_t>(::getpagesize()))) {
  void* memory =
      ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail("compile", "cannot allocate memory for code: {}", std::strerror(errno));
  data_ = static_cast<std::byte*>(memory);
}

CodeMemory::~CodeMemory() { ::munmap(data_, size_bytes_); }

void CodeMemory::make_executable() {
  if (::mprotect(data_, size_bytes_, PROT_READ | PROT_EXEC) != 0) {
    fail("compile", "this system does not allow generated code to run: {}", std::strerror(errno));
  }
  __builtin___clear_cache(reinterpret_cast<char*>(data_),
                          reinterpret_cast<char*>(data_ + size_bytes_));
}

ObjectCode::ObjectCode(std::span<const std::byte> object) {
  const ElfView elf(object);
  const Placement placement = place_sections(elf);
  memory_ = std::make_unique<CodeMemory>(placement.size_bytes);
  copy_sections(elf, placement, memory_->data());
  std::vector<Elf64_Sym> symbols;
  for (const Elf64_Shdr& section : elf.sections()) {
    if (section.sh_type != SHT_SYMTAB) continue;
    symbols = elf.rows<Elf64_Sym>(section);
    EPI_CHECK(section.sh_link < elf.sections().size());
    for (const Elf64_Sym& symbol : symbols) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      functions_[elf.text(elf.sections()[section.sh_link], symbol.st_name)] =
          address_of(symbol, placement, memory_->data());
    }
  }
  for (const Elf64_Shdr& section : elf.sections()) {
    if (section.sh_type != SHT_RELA) continue;
    relocate_section(elf, section, symbols, placement, memory_->data());
  }
  memory_->make_executable();
}

void* ObjectCode::find(std::string_view function) const {
  const auto found = functions_.find(function);
  EPI_CHECK(found != functions_.end());
  return found->second;
}

}  // namespace epi::compiler
