// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/peaks.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "epilogue/base/clock.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/compiler/codegen/gemm_emitter.h"
#include "epilogue/compiler/codegen/peak_code.h"
#include "epilogue/compiler/plan/generate.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

constexpr int kTries = 7;

struct alignas(64) PeakSink {
  std::array<std::byte, kPeakSinkBytes> bytes;
};

// Random numbers, as those that a GEMM multiplies.
PeakSink random_numbers(DType dtype) {
  PeakSink sink;
  if (dtype != DType::kI8) {
    const Tensor numbers = randn({kPeakSinkBytes / size_bytes(dtype)}, 1, {dtype, kCpu});
    std::memcpy(sink.bytes.data(), numbers.raw_data(), kPeakSinkBytes);
    return sink;
  }
  // In quantized weights, 127 is about three standard deviations.
  const Tensor numbers = randn({kPeakSinkBytes}, 1);
  for (size_t i = 0; i < sink.bytes.size(); ++i) {
    const float scaled = std::clamp(numbers.data<float>()[i] * 42, -127.0F, 127.0F);
    sink.bytes[i] = static_cast<std::byte>(static_cast<int8_t>(scaled));
  }
  return sink;
}

}  // namespace

double measure_gemm_peak(DType dtype) {
  const Target& target = host_target();
  GemmCode code;
  if (dtype == DType::kI8) {
    code.int8 = Int8Code{.int8_input = true, .in_groups = true};
  } else {
    code.dtype = dtype;
  }
  const PeakCode peak = emit_peak("epi_peak", choose_tile(code, target).kind, target);
  const Generated generated = generate(as_module(peak.ir, {"epi_peak"}, target), target);
  const auto function = reinterpret_cast<PeakFunction>(generated.code->find("epi_peak"));
  // A few milliseconds, in four parts per thread.
  constexpr int64_t kRoundsOfPart = 125'000;
  const PeakSink numbers = random_numbers(dtype);
  const int threads = num_threads();
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    const int64_t start_ns = now_ns();
    parallel_for(int64_t{4} * threads, 1, [&](int64_t begin, int64_t end) {
      PeakSink sink = numbers;
      function(sink.bytes.data(), kRoundsOfPart * (end - begin));
    });
    const double flops = static_cast<double>(kRoundsOfPart * 4 * threads * peak.flops_per_round);
    best = std::max(best, flops / static_cast<double>(now_ns() - start_ns));
  }
  return best;
}

double measure_read_peak(int64_t bytes) {
  const Target& target = host_target();
  const ReadCode one = emit_read("epi_read_1", 1, target);
  const ReadCode four = emit_read("epi_read_4", 4, target);
  const Generated generated =
      generate(as_module(one.ir + four.ir, {"epi_read_1", "epi_read_4"}, target), target);
  const int64_t rounds = std::max<int64_t>(bytes / one.bytes_per_round, 1);
  const Tensor data = zeros({rounds * one.bytes_per_round / 4});
  double best = 0;
  for (const char* name : {"epi_read_1", "epi_read_4"}) {
    const auto function = reinterpret_cast<ReadFunction>(generated.code->find(name));
    for (int i = 0; i < kTries; ++i) {
      const int64_t start_ns = now_ns();
      parallel_for(rounds, 64, [&](int64_t begin, int64_t end) {
        alignas(64) std::array<float, 64> sink{};
        function(sink.data(), data.raw_data() + begin * one.bytes_per_round, end - begin);
      });
      best = std::max(
          best, static_cast<double>(data.size_bytes()) / static_cast<double>(now_ns() - start_ns));
    }
  }
  return best;
}

}  // namespace epi::compiler
