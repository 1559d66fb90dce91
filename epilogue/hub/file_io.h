// SPDX-License-Identifier: Apache-2.0
// Files of packages: read whole, never through a link, never more than was announced; and the rule
// for the paths that a manifest may name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "epilogue/base/result.h"

namespace epi::hub {

// The bytes of a regular file of at most `most_bytes`: one of the user's, which may be a link, or
// one of a package, where the last part of the path may not be.
Result<std::string> read_user_file(const std::filesystem::path& path, int64_t most_bytes);
Result<std::string> read_package_file(const std::filesystem::path& path, int64_t most_bytes);

// The same for `relative` under `folder`: no part of it may be a link.
Result<std::string> read_file_under(const std::filesystem::path& folder, std::string_view relative,
                                    int64_t most_bytes);

// Writes a file whole or not at all, with the folders above it.
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

// Why a manifest may not name this path; empty where it may: letters, digits, "._+-" in parts
// between "/", none of them "." or "..", at most 200 characters.
std::string path_objection(std::string_view path);

}  // namespace epi::hub
