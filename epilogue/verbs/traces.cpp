// SPDX-License-Identifier: Apache-2.0
#include "epilogue/verbs/traces.h"

#include <filesystem>

namespace epi::verbs {

bool TraceSource::is_folder() const {
  if (open) return open->is_folder;
  std::error_code failed;
  return std::filesystem::is_directory(path, failed);
}

std::vector<std::string> paths_of(const std::vector<TraceSource>& sources) {
  std::vector<std::string> paths;
  for (const TraceSource& source : sources) {
    if (!source.open) paths.push_back(source.path);
  }
  return paths;
}

}  // namespace epi::verbs
