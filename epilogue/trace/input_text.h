// SPDX-License-Identifier: Apache-2.0
// The text of a file. The compression format is detected from the first bytes, not from the name. A
// plain file is mapped. A compressed file is decompressed into memory as far as it is intact, piece
// by piece, by the threads that read the text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "epilogue/base/mapped_file.h"
#include "epilogue/base/result.h"
#include "epilogue/trace/defects.h"

namespace epi::trace {

class Unpacker;

class InputText {
 public:
  // A text that is not compressed.
  InputText(std::string_view text, std::shared_ptr<const void> owner);
  // A text that is decompressed on demand.
  explicit InputText(std::shared_ptr<Unpacker> unpacker);
  // The file that the text is read from, if it is one.
  void set_file(std::shared_ptr<const MappedFile> file) { file_ = std::move(file); }

  // Returns once the first `bytes` of the text are there. If the text ends before, returns its
  // size. Several threads may call it at once: one decompresses, and the others wait.
  size_t wait_for(size_t bytes) const;
  // Decompresses the first `bytes` unless another thread decompresses.
  void read_ahead(size_t bytes) const;
  // Only a part that was waited for may be read.
  const char* data() const { return data_; }
  // Waits for the whole text. Corrupt or truncated data is counted in `defects`, and the text ends
  // there. A text that is longer than allowed or does not fit into memory is a failure.
  Result<std::string_view> whole(Defects& defects) const;

  // An estimate until the text has ended.
  size_t expected_bytes() const;
  // Keeps the text alive and in place.
  std::shared_ptr<const char> owner() const { return {owner_, data_}; }
  // Of a plain file, else -1. pread leaves no mapped pages.
  int fd() const { return unpacker_ == nullptr && file_ != nullptr ? file_->fd() : -1; }
  // True if the file was written to since it was opened.
  bool has_changed() const { return file_ != nullptr && file_->has_changed(); }

 private:
  std::shared_ptr<const void> owner_;
  const char* data_ = nullptr;
  size_t size_ = 0;                     // of a text that is not compressed
  std::shared_ptr<Unpacker> unpacker_;  // of a compressed text
  std::shared_ptr<const MappedFile> file_;
};

// Half of the available memory: the columns and an analysis need about as much as the text.
int64_t default_max_unpacked_bytes();

// Fails if the header of a zstd file has a size above `max_unpacked_bytes`. If another text turns
// out to be longer, `whole` fails.
Result<InputText> open_input(const std::filesystem::path& path,
                             int64_t max_unpacked_bytes = default_max_unpacked_bytes());
// The same for the bytes of a file. Failures refer to them as `name`.
Result<InputText> input_of_bytes(std::string bytes, const std::string& name,
                                 int64_t max_unpacked_bytes);

}  // namespace epi::trace
