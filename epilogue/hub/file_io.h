// SPDX-License-Identifier: Apache-2.0
// Reads package files without following links and with a size limit, and checks the paths in a
// manifest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "epilogue/base/result.h"

namespace epi::hub {

// Read a regular file of at most `max_bytes`. A user's file may be a link. For a package file the
// last component of the path must not be a link.
Result<std::string> read_user_file(const std::filesystem::path& path, int64_t max_bytes);
Result<std::string> read_package_file(const std::filesystem::path& path, int64_t max_bytes);

// Reads `relative` under `folder`. No component of `relative` may be a link.
Result<std::string> read_file_under(const std::filesystem::path& folder, std::string_view relative,
                                    int64_t max_bytes);

// Writes a file atomically. Creates its parent folders.
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

// Why a manifest must not contain this path; empty if it may. Allowed are at most 200 characters of
// letters, digits, "._+-" and "/", without "." or ".." as a component.
std::string path_error(std::string_view path);

}  // namespace epi::hub
