// SPDX-License-Identifier: Apache-2.0
// Paths and contents of the traces in tests/data.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "epilogue/trace/input_text.h"

namespace epi::trace {

inline std::string data_path(const std::string& name) {
  return std::string(EPI_TEST_DATA) + "/" + name;
}

inline std::string file_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// The text of the file, decompressed if necessary.
inline std::string unpacked_text(const std::string& path) {
  Defects defects;
  const auto input = open_input(path);
  if (!input) throw std::runtime_error(input.error().message);
  return std::string(input->whole(defects).value());
}

// The recorded traces, as paths relative to tests/data.
inline std::vector<std::string> all_traces() {
  std::vector<std::string> names;
  for (const char* folder : {"traces", "pytorch"}) {
    for (const auto& entry : std::filesystem::directory_iterator(data_path(folder))) {
      const std::string name = entry.path().filename();
      if (name.ends_with(".json") || name.ends_with(".json.gz")) {
        names.push_back(std::string(folder) + "/" + name);
      }
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace epi::trace
