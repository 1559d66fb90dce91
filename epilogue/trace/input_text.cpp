// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/input_text.h"

#include <algorithm>
#include <new>
#include <utility>

#include "epilogue/base/machine.h"
#include "epilogue/trace/decoder.h"
#include "epilogue/trace/unpacker.h"

namespace epi::trace {
namespace {

using MakeDecoder = std::unique_ptr<Decoder>(std::string_view compressed);

Result<InputText> unpack(const Source& source, const SizeInFile& size, MakeDecoder& make) {
  const size_t limit = static_cast<size_t>(source.max_unpacked_bytes);
  if (size.is_minimum && size.bytes > limit) return failure("{}", too_long_message(source));
  const size_t bytes = estimated_bytes(source, size.bytes);
  if (static_cast<int64_t>(bytes) > available_memory_bytes()) {
    return failure("{}", no_memory_message(source, bytes));
  }
  try {
    return InputText(std::make_shared<Unpacker>(source, make(source.bytes), bytes));
  } catch (const GrowingMemory::NoMemory& error) {
    return failure("{}", no_memory_message(source, error.bytes));
  } catch (const std::bad_alloc&) {
    return failure("{}", no_memory_for_decoder_message(source));
  }
}

// The text of these bytes, which may be compressed.
Result<InputText> text_of(const Source& source) {
  const std::string_view bytes = source.bytes;
  if (bytes.starts_with("\x1f\x8b")) return unpack(source, gzip_size(bytes), gzip_decoder);
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return unpack(source, zstd_size(bytes), zstd_decoder);
  return InputText(bytes, source.owner);
}

}  // namespace

InputText::InputText(std::string_view text, std::shared_ptr<const void> owner)
    : owner_(std::move(owner)), data_(text.data()), size_(text.size()) {}

InputText::InputText(std::shared_ptr<Unpacker> unpacker)
    : owner_(unpacker), data_(unpacker->data()), unpacker_(std::move(unpacker)) {}

size_t InputText::wait_for(size_t bytes) const {
  return unpacker_ == nullptr ? std::min(bytes, size_) : unpacker_->wait_for(bytes);
}

void InputText::read_ahead(size_t bytes) const {
  if (unpacker_ != nullptr) unpacker_->read_ahead(bytes);
}

Result<std::string_view> InputText::whole(Defects& defects) const {
  const size_t size = wait_for(SIZE_MAX);
  if (unpacker_ != nullptr) {
    EPI_TRY(unpacker_->result());
    if (unpacker_->is_broken()) defects.count(Defect::kBrokenCompression);
  }
  return std::string_view(data_, size);
}

size_t InputText::expected_bytes() const {
  return unpacker_ == nullptr ? size_ : unpacker_->expected_bytes();
}

int64_t default_max_unpacked_bytes() { return available_memory_bytes() / 2; }

Result<InputText> open_input(const std::filesystem::path& path, int64_t max_unpacked_bytes) {
  auto file = MappedFile::open(path);
  EPI_TRY(file);
  const auto shared = std::make_shared<const MappedFile>(std::move(*file));
  const std::string_view bytes(reinterpret_cast<const char*>(shared->bytes().data()),
                               shared->bytes().size());
  auto text = text_of({path.string(), bytes, shared, max_unpacked_bytes});
  EPI_TRY(text);
  text->set_file(shared);
  return text;
}

Result<InputText> input_of_bytes(std::string bytes, const std::string& name,
                                 int64_t max_unpacked_bytes) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return text_of({name, *owner, owner, max_unpacked_bytes});
}

}  // namespace epi::trace
