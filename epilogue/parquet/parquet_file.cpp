// SPDX-License-Identifier: Apache-2.0
// The format: https://parquet.apache.org/docs/file-format. Numbers of fields and enums are those of
// its Thrift definition.
#include "epilogue/parquet/parquet_file.h"

#include <zstd.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <new>
#include <span>
#include <unordered_map>

#include "epilogue/base/error.h"
#include "epilogue/parquet/page_values.h"
#include "epilogue/parquet/thrift_writer.h"

namespace epi::parquet {
namespace {

constexpr std::string_view kMagic = "PAR1";
// A group is written when it exceeds this: readers hold a group in memory. 128 MB is the limit.
constexpr size_t kGroupBytes = size_t{64} << 20;
constexpr size_t kPageRows = size_t{64} << 10;
constexpr int kZstdLevel = 1;

enum Type : int32_t { kInt64 = 2, kByteArray = 6 };
enum Encoding : int32_t { kPlain = 0, kRle = 3, kRleDictionary = 8 };
enum PageType : int32_t { kDataPage = 0, kDictionaryPage = 2 };
constexpr int32_t kOptional = 1;
constexpr int32_t kUtf8 = 0;
constexpr int32_t kZstd = 6;

std::string compress(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kZstdLevel);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  out.resize(size);
  return out;
}

// Where a column of a group is in the file.
struct Chunk {
  int64_t dictionary_offset = -1;
  int64_t data_offset = -1;
  int64_t bytes = 0;
  int64_t compressed_bytes = 0;
  int64_t values = 0;
};

}  // namespace

struct ParquetFile::Group {
  int64_t rows = 0;
  std::vector<Chunk> chunks;
};

struct ParquetFile::Column {
  ColumnInfo info;
  std::vector<uint8_t> is_present;
  std::vector<int64_t> integers;
  // Texts: an index for each, and the distinct ones in the order of their first use.
  std::vector<uint32_t> indices;
  std::unordered_map<std::string_view, uint32_t> index_of;
  std::deque<std::string> texts;  // stay in place
  int64_t replaced = 0;
  Chunk chunk;

  void clear() {
    is_present.clear();
    integers.clear();
    indices.clear();
    index_of.clear();
    texts.clear();
    chunk = {};
  }
};

ParquetFile::ParquetFile(OutputFile file) : file_(std::move(file)) {}
ParquetFile::ParquetFile(ParquetFile&&) noexcept = default;
ParquetFile::~ParquetFile() = default;

Result<ParquetFile> ParquetFile::create(const std::filesystem::path& path,
                                        const std::vector<ColumnInfo>& columns) {
  auto file = OutputFile::create(path);
  EPI_TRY(file);
  ParquetFile parquet(std::move(*file));
  for (const ColumnInfo& info : columns) parquet.columns_.emplace_back().info = info;
  EPI_TRY(parquet.write(kMagic));
  return parquet;
}

Result<void> ParquetFile::write(std::string_view bytes) {
  position_ += static_cast<int64_t>(bytes.size());
  return file_.write(bytes);
}

void ParquetFile::add_null(size_t column) { columns_[column].is_present.push_back(0); }

void ParquetFile::add_integer(size_t column, int64_t value) {
  columns_[column].is_present.push_back(1);
  columns_[column].integers.push_back(value);
  group_bytes_ += sizeof value;
}

void ParquetFile::add_text(size_t column, std::string_view value) {
  Column& target = columns_[column];
  target.is_present.push_back(1);
  auto found = target.index_of.find(value);
  if (found == target.index_of.end()) {
    const std::string& text = target.texts.emplace_back(value);
    found = target.index_of.emplace(text, static_cast<uint32_t>(target.texts.size() - 1)).first;
    group_bytes_ += text.size() + 4;
  }
  target.indices.push_back(found->second);
  group_bytes_ += 4;
}

Result<void> ParquetFile::end_row() {
  ++group_rows_;
  return group_bytes_ >= kGroupBytes ? write_group() : Result<void>();
}

// `describe` adds the part of the header that depends on the type.
Result<void> ParquetFile::write_page(Column& column, int32_t type, std::string_view values,
                                     const std::function<void(ThriftWriter&)>& describe) {
  if (values.size() > std::numeric_limits<int32_t>::max()) {
    return failure("{}: a page of {} bytes, which Parquet cannot have", column.info.name,
                   values.size());
  }
  const std::string compressed = compress(values);
  ThriftWriter writer;
  writer.i32(1, type);
  writer.i32(2, static_cast<int32_t>(values.size()));
  writer.i32(3, static_cast<int32_t>(compressed.size()));
  describe(writer);
  const std::string header = writer.take();
  column.chunk.bytes += static_cast<int64_t>(header.size() + values.size());
  column.chunk.compressed_bytes += static_cast<int64_t>(header.size() + compressed.size());
  EPI_TRY(write(header));
  return write(compressed);
}

Result<void> ParquetFile::write_dictionary(Column& column) {
  std::string values;
  for (const std::string& text : column.texts) {
    const std::string valid = valid_utf8(text, column.replaced);
    append_u32(values, static_cast<uint32_t>(valid.size()));
    values += valid;
  }
  column.chunk.dictionary_offset = position_;
  return write_page(column, kDictionaryPage, values, [&](ThriftWriter& header) {
    header.begin_struct(7);
    header.i32(1, static_cast<int32_t>(column.texts.size()));
    header.i32(2, kPlain);
    header.end_struct();
  });
}

// `value` is the position among the values that are not null.
Result<void> ParquetFile::write_data(Column& column, size_t first_row, size_t rows, size_t& value) {
  const auto present = std::span(column.is_present).subspan(first_row, rows);
  size_t count = 0;
  for (const uint8_t is_present : present) count += is_present;
  std::string values;
  append_levels(values, present);
  const bool is_text = column.info.type == ColumnType::kText;
  if (is_text) {
    const int bits = bits_for(static_cast<uint32_t>(column.texts.size()));
    values += static_cast<char>(bits);
    append_hybrid(values, std::span(column.indices).subspan(value, count), bits);
  } else {
    for (const int64_t number : std::span(column.integers).subspan(value, count)) {
      append_i64(values, number);
    }
  }
  value += count;
  if (column.chunk.data_offset < 0) column.chunk.data_offset = position_;
  return write_page(column, kDataPage, values, [&](ThriftWriter& header) {
    header.begin_struct(5);
    header.i32(1, static_cast<int32_t>(rows));
    header.i32(2, is_text ? kRleDictionary : kPlain);
    header.i32(3, kRle);  // definition levels
    header.i32(4, kRle);  // repetition levels, of which there are none
    header.end_struct();
  });
}

Result<void> ParquetFile::write_group() {
  if (group_rows_ == 0) return {};
  Group group{static_cast<int64_t>(group_rows_), {}};
  for (Column& column : columns_) {
    if (column.is_present.size() != group_rows_) throw BugError("a row without a value");
    if (column.info.type == ColumnType::kText) EPI_TRY(write_dictionary(column));
    size_t value = 0;
    for (size_t row = 0; row < group_rows_; row += kPageRows) {
      EPI_TRY(write_data(column, row, std::min(kPageRows, group_rows_ - row), value));
    }
    column.chunk.values = group.rows;
    group.chunks.push_back(column.chunk);
    column.clear();
  }
  rows_ += group.rows;
  groups_.push_back(std::move(group));
  group_rows_ = 0;
  group_bytes_ = 0;
  return {};
}

std::string ParquetFile::footer() const {
  ThriftWriter meta;
  meta.i32(1, 1);  // version
  meta.begin_list(2, ThriftWriter::Element::kStruct, columns_.size() + 1);
  meta.begin_element();  // the root
  meta.text(4, "schema");
  meta.i32(5, static_cast<int32_t>(columns_.size()));
  meta.end_struct();
  for (const Column& column : columns_) {
    const bool is_text = column.info.type == ColumnType::kText;
    meta.begin_element();
    meta.i32(1, is_text ? kByteArray : kInt64);
    meta.i32(3, kOptional);
    meta.text(4, column.info.name);
    if (is_text) {
      meta.i32(6, kUtf8);
      meta.begin_struct(10);  // the logical type: a string
      meta.begin_struct(1);
      meta.end_struct();
      meta.end_struct();
    }
    meta.end_struct();
  }
  meta.i64(3, rows_);
  meta.begin_list(4, ThriftWriter::Element::kStruct, groups_.size());
  for (const Group& group : groups_) {
    meta.begin_element();
    meta.begin_list(1, ThriftWriter::Element::kStruct, columns_.size());
    int64_t total = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Chunk& chunk = group.chunks[i];
      const bool is_text = columns_[i].info.type == ColumnType::kText;
      meta.begin_element();
      meta.i64(2, is_text ? chunk.dictionary_offset : chunk.data_offset);
      meta.begin_struct(3);
      meta.i32(1, is_text ? kByteArray : kInt64);
      meta.begin_list(2, ThriftWriter::Element::kI32, is_text ? 3 : 2);
      meta.element_i32(kPlain);
      meta.element_i32(kRle);
      if (is_text) meta.element_i32(kRleDictionary);
      meta.begin_list(3, ThriftWriter::Element::kText, 1);
      meta.element_text(columns_[i].info.name);
      meta.i32(4, kZstd);
      meta.i64(5, chunk.values);
      meta.i64(6, chunk.bytes);
      meta.i64(7, chunk.compressed_bytes);
      meta.i64(9, chunk.data_offset);
      if (is_text) meta.i64(11, chunk.dictionary_offset);
      meta.end_struct();
      meta.end_struct();
      total += chunk.bytes;
    }
    meta.i64(2, total);
    meta.i64(3, group.rows);
    meta.end_struct();
  }
  meta.text(6, "epilogue");  // created by
  return meta.take();
}

Result<int64_t> ParquetFile::finish() {
  EPI_TRY(write_group());
  const std::string meta = footer();
  EPI_TRY(write(meta));
  std::string end;
  append_u32(end, static_cast<uint32_t>(meta.size()));
  EPI_TRY(write(end));
  EPI_TRY(write(kMagic));
  EPI_TRY(file_.commit());
  int64_t replaced = 0;
  for (const Column& column : columns_) replaced += column.replaced;
  return replaced;
}

}  // namespace epi::parquet
