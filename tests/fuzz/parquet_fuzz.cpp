// SPDX-License-Identifier: Apache-2.0
// Writes any values as a Parquet file: texts of any bytes, integers and nulls in up to four
// columns, as many rows as the input has. The file must be complete: both marks, and a footer that
// fits.
#include <unistd.h>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "epilogue/parquet/parquet_file.h"

namespace {

using namespace epi::parquet;

void require(bool condition) {
  if (!condition) std::abort();
}

// Takes bytes from the front of the input. Zeros follow its end.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}
  bool is_empty() const { return rest_.empty(); }
  uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return value;
  }
  std::string_view text(size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view rest_;
};

void add_value(Input& input, ParquetFile& file, size_t column, ColumnType type) {
  const uint8_t choice = input.byte();
  if (choice % 5 == 0) {
    file.add_null(column);
  } else if (type == ColumnType::kText) {
    const std::string_view piece = input.text(choice % 16);
    // Sometimes longer than a page, and often the same text again.
    std::string text;
    const int repeats = choice == 255 ? 4096 : 1;
    for (int i = 0; i < repeats; ++i) text += piece;
    file.add_text(column, text);
  } else {
    int64_t value = 0;
    const std::string_view bytes = input.text(choice % 9);
    std::memcpy(&value, bytes.data(), bytes.size());
    file.add_integer(column, value);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("parquet_fuzz_" + std::to_string(::getpid()));
  Input input(data, size);
  std::vector<ColumnInfo> columns;
  const uint8_t layout = input.byte();
  for (size_t i = 0; i < 1 + layout % 4U; ++i) {
    const bool is_text = (layout >> (2 + i) & 1) != 0;
    columns.push_back({std::string(input.text(layout % 3)) + std::to_string(i),
                       is_text ? ColumnType::kText : ColumnType::kInteger});
  }
  auto file = ParquetFile::create(path, columns);
  require(file.has_value());
  while (!input.is_empty()) {
    for (size_t i = 0; i < columns.size(); ++i) add_value(input, *file, i, columns[i].type);
    require(file->end_row().has_value());
  }
  require(file->finish().has_value());
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)),
                          std::istreambuf_iterator<char>());
  require(bytes.size() >= 12 && bytes.starts_with("PAR1") && bytes.ends_with("PAR1"));
  uint32_t footer = 0;
  std::memcpy(&footer, bytes.data() + bytes.size() - 8, sizeof footer);
  require(footer > 0 && footer <= bytes.size() - 12);
  std::filesystem::remove(path);
  return 0;
}
