// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/input_text.h"

#include <libdeflate.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "epilogue/base/machine.h"
#include "epilogue/base/mapped_file.h"
#include "epilogue/base/result.h"

namespace epi::trace {
namespace {

constexpr size_t kMinCapacityBytes = size_t{1} << 20;

// Thrown if the text is longer than the limit.
struct TooLong {};
// Thrown if there is no memory for a text of this size.
struct NoMemory {
  size_t bytes;
};

// Memory that grows by remapping its pages instead of copying them.
class GrowingMemory {
 public:
  // Holds at most `max_bytes`.
  GrowingMemory(size_t bytes, size_t max_bytes)
      : capacity_(std::min(std::max(bytes, kMinCapacityBytes), max_bytes)), max_bytes_(max_bytes) {
    void* pages = ::mmap(nullptr, capacity_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw NoMemory{capacity_};
    data_ = static_cast<char*>(pages);
    ::madvise(data_, capacity_, MADV_HUGEPAGE);  // saves a hundred thousand page faults
  }
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;
  ~GrowingMemory() { ::munmap(data_, capacity_); }

  // Linux overcommits memory and kills the process later, so growth that cannot fit is rejected
  // here.
  void grow() {
    if (capacity_ == max_bytes_) throw TooLong();
    const size_t bytes = std::min(2 * capacity_, max_bytes_);
    if (static_cast<int64_t>(capacity_) > available_memory_bytes()) throw NoMemory{bytes};
    void* pages = ::mremap(data_, capacity_, bytes, MREMAP_MAYMOVE);
    if (pages == MAP_FAILED) throw NoMemory{bytes};
    data_ = static_cast<char*>(pages);
    capacity_ = bytes;
  }

  char* free_data() { return data_ + size_; }
  size_t free_bytes() const { return capacity_ - size_; }
  void use(size_t bytes) { size_ += bytes; }
  std::string_view text() const { return {data_, size_}; }

 private:
  char* data_ = nullptr;
  size_t capacity_ = 0;
  size_t max_bytes_ = 0;
  size_t size_ = 0;
};

// The size stored at the end of a gzip file: that of its last member, modulo 2^32.
size_t gzip_size_hint(std::string_view compressed) {
  if (compressed.size() < 18) return 0;
  uint32_t size = 0;
  // gzip is little-endian, like x86-64 and AArch64.
  std::memcpy(&size, compressed.data() + compressed.size() - 4, 4);
  return size;
}

// Recovers the start of a damaged member with zlib. libdeflate only accepts complete members.
void inflate_damaged_member(std::string_view compressed, GrowingMemory& out) {
  struct Stream : z_stream {
    Stream() : z_stream{} {
      if (::inflateInit2(this, 15 + 16) != Z_OK) throw std::bad_alloc();
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { ::inflateEnd(this); }
  } stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(std::min<size_t>(compressed.size(), UINT32_MAX));
  int state = Z_OK;
  while (state == Z_OK) {
    if (out.free_bytes() == 0) out.grow();
    const size_t room = std::min<size_t>(out.free_bytes(), kMinCapacityBytes);
    stream.next_out = reinterpret_cast<Bytef*>(out.free_data());
    stream.avail_out = static_cast<uInt>(room);
    state = ::inflate(&stream, Z_NO_FLUSH);
    out.use(room - stream.avail_out);
  }
}

// libdeflate decompresses a whole member at once, so that it cannot be cancelled in between.
void decompress_gzip(std::string_view compressed, GrowingMemory& out, Defects& defects,
                     const ReadProgress*) {
  struct Free {
    void operator()(libdeflate_decompressor* d) const { ::libdeflate_free_decompressor(d); }
  };
  const std::unique_ptr<libdeflate_decompressor, Free> decompressor(
      ::libdeflate_alloc_decompressor());
  if (decompressor == nullptr) throw std::bad_alloc();
  while (!compressed.empty()) {
    size_t consumed = 0;
    size_t produced = 0;
    const auto result =
        ::libdeflate_gzip_decompress_ex(decompressor.get(), compressed.data(), compressed.size(),
                                        out.free_data(), out.free_bytes(), &consumed, &produced);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
      out.grow();
      continue;
    }
    if (result != LIBDEFLATE_SUCCESS) {
      defects.count(Defect::kBrokenCompression);
      inflate_damaged_member(compressed, out);
      return;
    }
    out.use(produced);
    compressed.remove_prefix(consumed);
    // Some writers pad the file with zeros.
    compressed.remove_prefix(std::min(compressed.size(), compressed.find_first_not_of('\0')));
  }
}

void decompress_zstd(std::string_view compressed, GrowingMemory& out, Defects& defects,
                     const ReadProgress* progress) {
  constexpr size_t kPieceBytes = size_t{16} << 20;  // about 10 ms until a cancellation is noticed
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ::ZSTD_freeDCtx(context); }
  };
  const std::unique_ptr<ZSTD_DCtx, Free> context(::ZSTD_createDCtx());
  if (context == nullptr) throw std::bad_alloc();
  // Files written with `zstd --long=31`. The decoder allocates the window of the header, but
  // touches only what it decompresses.
  ::ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, sizeof(size_t) > 4 ? 31 : 30);
  ZSTD_inBuffer in{compressed.data(), compressed.size(), 0};
  size_t state = 0;
  while (in.pos < in.size || state != 0) {
    if (is_cancelled(progress)) return;
    if (out.free_bytes() == 0) out.grow();
    ZSTD_outBuffer to{out.free_data(), std::min(out.free_bytes(), kPieceBytes), 0};
    const size_t before = in.pos;
    state = ::ZSTD_decompressStream(context.get(), &to, &in);
    out.use(to.pos);
    if (::ZSTD_getErrorCode(state) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    const bool stuck = in.pos == before && to.pos == 0;
    if (::ZSTD_isError(state) != 0 || stuck) {
      defects.count(Defect::kBrokenCompression);
      return;
    }
  }
}

size_t zstd_size_hint(std::string_view compressed) {
  const unsigned long long size = ::ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ? 4 * compressed.size()
                                                                            : size;
}

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// The bytes of a file, possibly compressed, and what an error calls them.
struct Source {
  std::string name;
  InputText bytes;
  int64_t max_bytes = 0;  // of the text
  const ReadProgress* progress = nullptr;
};

Result<InputText> too_long(const Source& source) {
  return failure("{}: decompresses to more than {} bytes; max_unpacked sets the limit", source.name,
                 source.max_bytes);
}

Result<InputText> no_memory(const Source& source, size_t bytes) {
  return failure(
      "{}: decompressing it needs {} bytes of memory, which are not available; max_unpacked sets a "
      "lower limit",
      source.name, bytes);
}

template <typename Decompress>
Result<InputText> decompressed_text(const Source& source, size_t size_hint, Defects& defects,
                                    Decompress&& decompress) {
  const std::string_view compressed = source.bytes.text;
  // The hint comes from the file and may be wrong, so it is limited by the maximum compression
  // ratio.
  constexpr size_t kMaxRatio = 1100;
  // One byte more than the limit shows that the text is longer.
  const size_t capacity_limit = static_cast<size_t>(source.max_bytes) + 1;
  const size_t initial_bytes =
      std::min({size_hint + 1, compressed.size() * kMaxRatio, capacity_limit});
  if (static_cast<int64_t>(initial_bytes) > available_memory_bytes()) {
    return no_memory(source, initial_bytes);
  }
  try {
    const auto memory = std::make_shared<GrowingMemory>(initial_bytes, capacity_limit);
    decompress(compressed, *memory, defects, source.progress);
    if (is_cancelled(source.progress)) return failure("{}: cancelled", source.name);
    const std::string_view text = memory->text();
    if (text.size() == capacity_limit) throw TooLong();
    std::shared_ptr<const char> owner(memory, text.data());  // NOLINT: not a C string
    return InputText{text, std::move(owner), -1, source.bytes.file};
  } catch (const TooLong&) {
    return too_long(source);
  } catch (const NoMemory& error) {
    return no_memory(source, error.bytes);
  } catch (const std::bad_alloc&) {  // of the decoder
    return no_memory(source, initial_bytes);
  }
}

// The text of a source, which is its bytes if they are not compressed.
Result<InputText> unpack(const Source& source, Defects& defects) {
  const std::string_view bytes = source.bytes.text;
  if (bytes.starts_with("\x1f\x8b")) {
    return decompressed_text(source, gzip_size_hint(bytes), defects, decompress_gzip);
  }
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) {
    // The decoder insists on the size in the header, so nothing needs to be decompressed.
    const auto size = ::ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    const bool known = size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR;
    if (known && size > static_cast<unsigned long long>(source.max_bytes)) return too_long(source);
    return decompressed_text(source, zstd_size_hint(bytes), defects, decompress_zstd);
  }
  return source.bytes;
}

}  // namespace

int64_t default_max_unpacked_bytes() { return available_memory_bytes() / 2; }

Result<InputText> open_input(const std::filesystem::path& path, Defects& defects,
                             int64_t max_unpacked_bytes, const ReadProgress* progress) {
  auto file = MappedFile::open(path);
  EPI_TRY(file);
  const auto shared = std::make_shared<MappedFile>(std::move(*file));
  const std::string_view bytes = text_of(*shared);
  std::shared_ptr<const char> owner(shared, bytes.data());  // NOLINT: not a C string
  const InputText mapped{bytes, std::move(owner), shared->fd(), shared};
  return unpack({path.string(), mapped, max_unpacked_bytes, progress}, defects);
}

Result<InputText> input_of_bytes(std::string bytes, const std::string& name, Defects& defects,
                                 int64_t max_unpacked_bytes, const ReadProgress* progress) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  const InputText text{*owner, std::shared_ptr<const char>(owner, owner->data()), -1, nullptr};
  return unpack({name, text, max_unpacked_bytes, progress}, defects);
}

}  // namespace epi::trace
