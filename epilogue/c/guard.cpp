// SPDX-License-Identifier: Apache-2.0
#include "epilogue/c/guard.h"

#include <cstdlib>
#include <cstring>

namespace epi::c {

char* new_text(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

void set_message(char** to, std::string_view text) noexcept {
  if (to == nullptr) return;
  try {
    *to = new_text(text);
  } catch (const std::bad_alloc&) {
    *to = nullptr;
  }
}

}  // namespace epi::c

void epi_free(char* text) { std::free(text); }

int epi_trace_abi(void) { return EPI_TRACE_ABI; }

const char* epi_trace_version(void) { return EPI_VERSION; }
