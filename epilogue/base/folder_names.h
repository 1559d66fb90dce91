// SPDX-License-Identifier: Apache-2.0
// What a folder contains. std::filesystem::directory_iterator is not used, because libstdc++ joins
// paths in a noexcept function, which ends the process if memory runs out.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace epi {

// The names of all entries, sorted, without "." and "..". If the folder cannot be read, `error` is
// set and the names may be incomplete.
std::vector<std::string> folder_names(const std::filesystem::path& folder, std::error_code& error);

}  // namespace epi
