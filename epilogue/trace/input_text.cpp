// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/input_text.h"

#include <fcntl.h>
#include <libdeflate.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "epilogue/base/machine.h"
#include "epilogue/base/mapped_file.h"
#include "epilogue/base/result.h"

namespace epi::trace {
namespace {

constexpr size_t kFirstBytes = size_t{1} << 20;

// Memory that grows in place of being copied.
class GrowingMemory {
 public:
  explicit GrowingMemory(size_t bytes) : capacity_(std::max(bytes, kFirstBytes)) {
    void* pages = ::mmap(nullptr, capacity_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<char*>(pages);
    ::madvise(data_, capacity_, MADV_HUGEPAGE);  // a hundred thousand page faults less
  }
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;
  ~GrowingMemory() { ::munmap(data_, capacity_); }

  // Linux promises more than it has and kills later: what cannot fit is refused here.
  void grow() {
    if (static_cast<int64_t>(capacity_) > available_memory_bytes()) throw std::bad_alloc();
    void* pages = ::mremap(data_, capacity_, 2 * capacity_, MREMAP_MAYMOVE);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<char*>(pages);
    capacity_ *= 2;
  }

  char* free_begin() { return data_ + size_; }
  size_t free_bytes() const { return capacity_ - size_; }
  void use(size_t bytes) { size_ += bytes; }
  std::string_view text() const { return {data_, size_}; }

 private:
  char* data_ = nullptr;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

// The size that a gzip file gives at its end: of its last member, modulo 2^32.
size_t gzip_size_hint(std::string_view packed) {
  if (packed.size() < 18) return 0;
  uint32_t size = 0;
  std::memcpy(&size, packed.data() + packed.size() - 4, 4);  // both of our machines are so ordered
  return size;
}

// What zlib can still take out of a member that libdeflate, which wants it whole, refuses.
void inflate_broken_member(std::string_view packed, GrowingMemory& out) {
  z_stream stream{};
  if (::inflateInit2(&stream, 15 + 16) != Z_OK) throw std::bad_alloc();
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(std::min<size_t>(packed.size(), UINT32_MAX));
  int state = Z_OK;
  while (state == Z_OK) {
    if (out.free_bytes() == 0) out.grow();
    const size_t room = std::min<size_t>(out.free_bytes(), kFirstBytes);
    stream.next_out = reinterpret_cast<Bytef*>(out.free_begin());
    stream.avail_out = static_cast<uInt>(room);
    state = ::inflate(&stream, Z_NO_FLUSH);
    out.use(room - stream.avail_out);
  }
  ::inflateEnd(&stream);
}

void unpack_gzip(std::string_view packed, GrowingMemory& out, Defects& defects) {
  struct Free {
    void operator()(libdeflate_decompressor* d) const { ::libdeflate_free_decompressor(d); }
  };
  const std::unique_ptr<libdeflate_decompressor, Free> unpacker(::libdeflate_alloc_decompressor());
  if (unpacker == nullptr) throw std::bad_alloc();
  while (!packed.empty()) {
    size_t taken = 0;
    size_t made = 0;
    const auto result =
        ::libdeflate_gzip_decompress_ex(unpacker.get(), packed.data(), packed.size(),
                                        out.free_begin(), out.free_bytes(), &taken, &made);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) {
      out.grow();
      continue;
    }
    if (result != LIBDEFLATE_SUCCESS) {
      defects.count(Defect::kBrokenCompression);
      inflate_broken_member(packed, out);
      return;
    }
    out.use(made);
    packed.remove_prefix(taken);
    // Some writers pad with zeros.
    packed.remove_prefix(std::min(packed.size(), packed.find_first_not_of('\0')));
  }
}

void unpack_zstd(std::string_view packed, GrowingMemory& out, Defects& defects) {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ::ZSTD_freeDCtx(context); }
  };
  const std::unique_ptr<ZSTD_DCtx, Free> context(::ZSTD_createDCtx());
  if (context == nullptr) throw std::bad_alloc();
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  size_t state = 0;
  while (in.pos < in.size || state != 0) {
    if (out.free_bytes() == 0) out.grow();
    ZSTD_outBuffer to{out.free_begin(), out.free_bytes(), 0};
    const size_t before = in.pos;
    state = ::ZSTD_decompressStream(context.get(), &to, &in);
    out.use(to.pos);
    const bool stuck = in.pos == before && to.pos == 0;
    if (::ZSTD_isError(state) != 0 || stuck) {
      defects.count(Defect::kBrokenCompression);
      return;
    }
  }
}

size_t zstd_size_hint(std::string_view packed) {
  const unsigned long long size = ::ZSTD_getFrameContentSize(packed.data(), packed.size());
  return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ? 4 * packed.size()
                                                                            : size;
}

// A mapping, and the same file to be read. Without a descriptor the mapping does.
struct PlainFile {
  PlainFile(std::shared_ptr<MappedFile> mapping, const std::filesystem::path& path)
      : file(std::move(mapping)), fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  ~PlainFile() {
    if (fd >= 0) ::close(fd);
  }

  std::shared_ptr<MappedFile> file;
  int fd;
};

template <typename Unpack>
Result<InputText> unpacked(const std::filesystem::path& path, std::string_view packed,
                           size_t size_hint, Defects& defects, Unpack&& unpack) {
  // A hint is somebody's claim: believed as far as this format can pack.
  constexpr size_t kMaxRatio = 1100;
  const size_t first = std::min(size_hint, packed.size() * kMaxRatio) + 1;
  if (static_cast<int64_t>(first) > available_memory_bytes()) {
    return failure("{}: needs {} bytes of memory unpacked, {} are available", path.string(), first,
                   available_memory_bytes());
  }
  try {
    const auto memory = std::make_shared<GrowingMemory>(first);
    unpack(packed, *memory, defects);
    const std::string_view text = memory->text();
    return InputText{text, std::shared_ptr<const char>(memory, text.data())};
  } catch (const std::bad_alloc&) {
    return failure("{}: no memory left to unpack it", path.string());
  }
}

}  // namespace

Result<InputText> open_input(const std::filesystem::path& path, Defects& defects) {
  auto file = MappedFile::open(path);
  EPI_TRY(file);
  const auto shared = std::make_shared<MappedFile>(std::move(*file));
  const std::string_view bytes(reinterpret_cast<const char*>(shared->bytes().data()),
                               shared->bytes().size());
  if (bytes.starts_with("\x1f\x8b")) {
    return unpacked(path, bytes, gzip_size_hint(bytes), defects, unpack_gzip);
  }
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) {
    return unpacked(path, bytes, zstd_size_hint(bytes), defects, unpack_zstd);
  }
  const auto plain = std::make_shared<PlainFile>(shared, path);
  return InputText{bytes, std::shared_ptr<const char>(plain, bytes.data()), plain->fd};
}

}  // namespace epi::trace
