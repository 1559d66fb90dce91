// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/compressed_output.h"

#include <zlib.h>
#include <zstd.h>

#include <cctype>
#include <string>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/base/output_file.h"
#include "epilogue/base/result.h"

namespace epi::trace {
namespace {

constexpr size_t kBufferBytes = size_t{256} << 10;
// Traces are repetitive: the fastest levels already remove nine tenths of their size.
constexpr int kGzipLevel = 1;
constexpr int kZstdLevel = 1;

class PlainOutput : public CompressedOutput {
 public:
  explicit PlainOutput(OutputFile file) : file_(std::move(file)) {}
  Result<void> write(std::string_view text) override { return file_.write(text); }
  Result<void> commit() override { return file_.commit(); }

 private:
  OutputFile file_;
};

// One gzip member for the whole file: some viewers stop after the first member.
class GzipOutput : public CompressedOutput {
 public:
  explicit GzipOutput(OutputFile file) : file_(std::move(file)) {
    constexpr int kGzipFormat = 15 + 16;  // the largest window, with a gzip header
    const int status =
        ::deflateInit2(&stream_, kGzipLevel, Z_DEFLATED, kGzipFormat, 9, Z_DEFAULT_STRATEGY);
    if (status != Z_OK) throw std::bad_alloc();
  }
  ~GzipOutput() override { ::deflateEnd(&stream_); }

  Result<void> write(std::string_view text) override {
    constexpr size_t kMax = size_t{1} << 30;  // zlib counts in 32 bits
    for (; text.size() > kMax; text.remove_prefix(kMax)) {
      EPI_TRY(deflate_all(text.substr(0, kMax), Z_NO_FLUSH));
    }
    return deflate_all(text, Z_NO_FLUSH);
  }
  Result<void> commit() override {
    EPI_TRY(deflate_all("", Z_FINISH));
    return file_.commit();
  }

 private:
  Result<void> deflate_all(std::string_view text, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream_.avail_in = static_cast<uInt>(text.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      EPI_CHECK(::deflate(&stream_, flush) != Z_STREAM_ERROR);
      const size_t produced = buffer_.size() - stream_.avail_out;
      EPI_TRY(file_.write(std::string_view(buffer_.data(), produced)));
    } while (stream_.avail_out == 0);
    return {};
  }

  OutputFile file_;
  z_stream stream_{};
  std::vector<char> buffer_ = std::vector<char>(kBufferBytes);
};

class ZstdOutput : public CompressedOutput {
 public:
  explicit ZstdOutput(OutputFile file) : file_(std::move(file)), context_(::ZSTD_createCCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    ::ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kZstdLevel);
    ::ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  Result<void> write(std::string_view text) override {
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    while (in.pos < in.size) {
      EPI_TRY(compress(in, ZSTD_e_continue));
    }
    return {};
  }
  Result<void> commit() override {
    ZSTD_inBuffer in{nullptr, 0, 0};
    for (;;) {
      const auto remaining = compress(in, ZSTD_e_end);
      EPI_TRY(remaining);
      if (*remaining == 0) return file_.commit();
    }
  }

 private:
  // Returns the number of bytes left to flush.
  Result<size_t> compress(ZSTD_inBuffer& in, ZSTD_EndDirective directive) {
    ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
    const size_t remaining = ::ZSTD_compressStream2(context_.get(), &out, &in, directive);
    EPI_CHECK(::ZSTD_isError(remaining) == 0);
    EPI_TRY(file_.write(std::string_view(buffer_.data(), out.pos)));
    return remaining;
  }

  struct Free {
    void operator()(ZSTD_CCtx* context) const { ::ZSTD_freeCCtx(context); }
  };
  OutputFile file_;
  std::unique_ptr<ZSTD_CCtx, Free> context_;
  std::vector<char> buffer_ = std::vector<char>(kBufferBytes);
};

}  // namespace

Result<std::unique_ptr<CompressedOutput>> CompressedOutput::create(
    const std::filesystem::path& path) {
  auto file = OutputFile::create(path);
  EPI_TRY(file);
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (extension == ".gz") return std::make_unique<GzipOutput>(std::move(*file));
  if (extension == ".zst") return std::make_unique<ZstdOutput>(std::move(*file));
  return std::make_unique<PlainOutput>(std::move(*file));
}

}  // namespace epi::trace
