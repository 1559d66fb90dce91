// SPDX-License-Identifier: Apache-2.0
// The text of a file, whatever it is compressed with: found out by its first bytes, not by its
// name. A plain file is mapped; a compressed one is unpacked into memory, as much of it as there
// is.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "epilogue/base/result.h"
#include "epilogue/trace/defects.h"

namespace epi::trace {

struct InputText {
  std::string_view text;
  std::shared_ptr<const char> owner;  // of the text; keeps it where it is
  int fd = -1;  // of a plain file, as long as the owner lives: reading leaves no pages behind
};

// Broken or cut compressed data is counted in `defects`; what came before it is the text.
Result<InputText> open_input(const std::filesystem::path& path, Defects& defects);

}  // namespace epi::trace
