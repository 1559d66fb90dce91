// SPDX-License-Identifier: Apache-2.0
// Decompressing in pieces, while threads read the text.
#include "epilogue/trace/input_text.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <thread>

#include "epilogue/base/thread_pool.h"
#include "epilogue/trace/reader.h"
#include "epilogue/trace/windows.h"
#include "tests/trace/gzip.h"
#include "tests/trace/same_trace.h"
#include "tests/trace/test_files.h"

namespace epi::trace {
namespace {

constexpr int64_t kNoLimit = int64_t{1} << 32;

struct Unpacked {
  std::string text;
  int64_t broken = 0;
};

Unpacked unpack(const std::string& packed) {
  const auto input = input_of_bytes(packed, "test.gz", kNoLimit);
  if (!input) throw std::runtime_error(input.error().message);
  Defects defects;
  const auto whole = input->whole(defects);
  if (!whole) throw std::runtime_error(whole.error().message);
  return {std::string(*whole), defects.of(Defect::kBrokenCompression)};
}

// What zlib decompresses of one member.
std::string zlib_text(const std::string& packed, bool& is_whole) {
  z_stream stream{};
  ::inflateInit2(&stream, 15 + 16);
  std::string out(size_t{4} << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  is_whole = ::inflate(&stream, Z_NO_FLUSH) == Z_STREAM_END;
  out.resize(stream.total_out);
  ::inflateEnd(&stream);
  return out;
}

// Text of several pieces, with matches at many distances.
std::string long_text(size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < bytes) {
    if (text.size() > 100 && random() % 3 == 0) {
      const size_t back = 1 + random() % std::min<size_t>(text.size(), 32768);
      for (size_t left = 3 + random() % 400; left > 0; --left) text += text[text.size() - back];
    } else {
      text += std::to_string(random()) + ", ";
    }
  }
  text.resize(bytes);
  return text;
}

TEST(InputText, UnpacksMembersOfAllSizes) {
  std::string packed;
  std::string text;
  for (const size_t bytes : {0, 1, 100'000, 0, 1 << 20, (1 << 20) + 1, 3'000'000, 0}) {
    const std::string part = long_text(bytes, static_cast<unsigned>(bytes));
    text += part;
    packed += gzip(part);
    const Unpacked unpacked = unpack(packed);
    ASSERT_EQ(unpacked.text, text) << bytes;
    EXPECT_EQ(unpacked.broken, 0);
  }
  packed += std::string(1000, '\0');  // padding
  EXPECT_EQ(unpack(packed).broken, 0);
  packed += "more";
  EXPECT_EQ(unpack(packed).text, text);
  EXPECT_EQ(unpack(packed).broken, 1);
}

TEST(InputText, CountsAWrongChecksum) {
  const std::string text = long_text(2'500'000, 1);
  std::string packed = gzip(text);
  packed[packed.size() - 8] ^= 1;  // followed by the size
  const Unpacked unpacked = unpack(packed);
  EXPECT_EQ(unpacked.text, text);
  EXPECT_EQ(unpacked.broken, 1);
}

// The decoder keeps at least what zlib keeps, apart from the last byte.
TEST(InputText, KeepsTheTextBeforeDamage) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    const std::string text = long_text(random() % 200'000, static_cast<unsigned>(i));
    std::string packed = gzip(text, static_cast<int>(random() % 10));
    if (i % 3 == 0) {
      packed.resize(2 + random() % (packed.size() - 2));
    } else {
      packed[3 + random() % (packed.size() - 3)] ^= static_cast<char>(1U << random() % 8);
    }
    bool is_whole = false;
    const std::string expected = zlib_text(packed, is_whole);
    const Unpacked unpacked = unpack(packed);
    // zlib rejects reserved bits of the header, and the decoder ignores them.
    if (unpacked.text == text && unpacked.broken == 0) continue;
    ASSERT_FALSE(is_whole) << i;
    EXPECT_EQ(unpacked.broken, 1) << i;
    const size_t both = std::min(expected.size(), unpacked.text.size());
    ASSERT_EQ(unpacked.text.substr(0, both), expected.substr(0, both)) << i;
    ASSERT_LE(expected.size(), both + 1) << i;
  }
}

TEST(InputText, GrowsBeyondTheSizeInTheFile) {
  const std::string text = long_text(9'000'000, 2);
  const std::string packed = gzip(text) + gzip("");  // the last member has 0 bytes
  const auto input = input_of_bytes(packed, "test.gz", kNoLimit);
  ASSERT_TRUE(input);
  EXPECT_LT(input->expected_bytes(), text.size());
  EXPECT_EQ(input->wait_for(SIZE_MAX), text.size());
  EXPECT_EQ(input->expected_bytes(), text.size());
  EXPECT_EQ(std::string_view(input->data(), text.size()), text);
}

TEST(InputText, LimitsTheSize) {
  const std::string text = long_text(3'000'000, 3);
  for (const int64_t limit : {2'999'999, 3'000'000}) {
    const auto input = input_of_bytes(gzip(text), "test.gz", limit);
    ASSERT_TRUE(input);
    Defects defects;
    const auto whole = input->whole(defects);
    EXPECT_EQ(whole.has_value(), limit == 3'000'000);
    if (whole) continue;
    EXPECT_EQ(whole.error().message,
              "test.gz: decompresses to more than 2999999 bytes; max_unpacked sets the limit");
  }
}

TEST(InputText, CanBeReadByManyThreads) {
  const std::string text = long_text(20'000'000, 4);
  const auto input = input_of_bytes(gzip(text, 1), "test.gz", kNoLimit);
  ASSERT_TRUE(input);
  std::vector<std::thread> threads;
  std::vector<size_t> wrong(8);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      constexpr size_t kBytes = 100'000;
      for (size_t at = t * kBytes; at < text.size(); at += wrong.size() * kBytes) {
        input->read_ahead(at + 10 * kBytes);
        const size_t end = input->wait_for(at + kBytes);
        const std::string_view expected = std::string_view(text).substr(at, kBytes);
        wrong[t] += std::string_view(input->data() + at, end - at) != expected;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<size_t>(8));
  EXPECT_EQ(input->wait_for(SIZE_MAX), text.size());
}

// The trace of a compressed file, with properties before and after the list that are longer than
// what is decompressed at once.
TEST(InputText, GivesTheTraceOfThePlainText) {
  const std::string events = file_text(data_path("traces/mlp_eager.json"));
  const size_t object = events.find('{') + 1;
  const size_t list = events.find('[', events.find("\"traceEvents\"")) + 1;
  std::string text = "{\"before\": \"" + std::string(3'000'000, 'b') + "\"," +
                     events.substr(object, list - object);
  const std::string_view inside(events.data() + list, events.rfind(']') - list);
  for (int i = 0; i < 40; ++i) (text += inside) += i < 39 ? "," : "";
  text += events.substr(events.rfind(']'));
  text.insert(text.rfind('}'), ", \"after\": \"" + std::string(3'000'000, 'a') + "\"");
  const auto plain = read_bytes(text, "test.json");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_GT(plain->size(), 1000);
  const int threads_before = num_threads();
  for (const int threads : {1, 2, 5}) {
    set_num_threads(threads);
    // The size in the second file is that of its last member.
    for (const std::string& file : {gzip(text), gzip(text) + gzip("")}) {
      const auto packed = read_bytes(file, "test.gz", kNoLimit);
      ASSERT_TRUE(packed) << packed.error().message;
      expect_same_events(*packed, *plain);
      EXPECT_EQ(packed->properties, plain->properties);
      EXPECT_EQ(packed->defects.lines(), plain->defects.lines());
    }
  }
  set_num_threads(threads_before);
}

// An executor may run the parts one after another: none may wait for another.
TEST(InputText, NeedsNoSecondThread) {
  const std::string text = file_text(data_path("traces/mlp_eager.json"));
  const std::string padded = text + std::string(3'000'000, ' ');
  const int threads_before = num_threads();
  set_num_threads(4);
  set_executor([](int64_t parts, const std::function<void(int64_t)>& run) {
    for (int64_t part = parts - 1; part >= 0; --part) run(part);
  });
  const auto packed = read_bytes(gzip(padded), "test.gz", kNoLimit);
  set_executor({});
  set_num_threads(threads_before);
  ASSERT_TRUE(packed) << packed.error().message;
  expect_same_events(*packed, *read_bytes(text, "test.json"));
}

TEST(InputText, IsNotDecompressedAfterCancelling) {
  const std::string text = long_text(20'000'000, 6);
  const auto input = input_of_bytes(gzip(text, 1) + gzip(""), "test.gz", kNoLimit);
  ASSERT_TRUE(input);
  ReadProgress progress;
  progress.is_cancelled = true;
  EXPECT_EQ(parse_in_windows(*input, 0, &progress).trace.size(), 0);
  EXPECT_LT(input->expected_bytes(), text.size());  // exact once it is decompressed
  const auto trace = read_bytes(gzip(text), "test.gz", kNoLimit, &progress);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message, "test.gz: cancelled");
}

TEST(InputText, EstimatesTheSizeWhileItIsDecompressed) {
  const std::string text = long_text(20'000'000, 5);
  const auto input = input_of_bytes(gzip(text, 1) + gzip(""), "test.gz", kNoLimit);
  ASSERT_TRUE(input);
  input->wait_for(2'000'000);
  // The text is alike from start to end.
  EXPECT_NEAR(static_cast<double>(input->expected_bytes()), 20e6, 2e6);
}

// A stray quote at the start of a value is examined to the end of the text, however long it is.
TEST(InputText, ReadsALongHeadLikeAShortOne) {
  const std::string list =
      "\"traceEvents\": [{\"ph\": \"X\", \"name\": \"e\", \"ts\": 1, \"dur\": 1}]}";
  std::vector<std::string> lines;
  for (const size_t length : {1000, 1'000'000}) {
    const std::string text =
        "{\"cmd\": \"x\" \"traceEvents\": [1] " + std::string(length, 'j') + "\", " + list;
    const auto trace = read_bytes(text, "test.json");
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->size(), 1);
    if (lines.empty()) lines = trace->defects.lines();
    EXPECT_EQ(trace->defects.lines(), lines) << length;
  }
}

}  // namespace
}  // namespace epi::trace
