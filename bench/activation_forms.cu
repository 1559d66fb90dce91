// SPDX-License-Identifier: Apache-2.0
// Error and cost of ways to compute the activation of a gated MLP in the epilogue of a GEMM.
//   activation_forms
// Error: h = act(gate) * up in bf16, for normally distributed gates of several scales and shifts,
// against float64. An output of the block is a sum of such products with weights, so its error
// grows by the same factor. Cost: clock cycles per element of a thread, for one block of 128
// threads, as many as a multiplying warpgroup of the tile form has.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "epilogue/compiler/codegen/device/pair.cuh"

namespace {

using namespace epi::device;

constexpr int kElements = 1 << 22;
constexpr int kThreads = 128;
constexpr int kHeld = 96;  // elements per thread, as many as a tile has sums
constexpr int kRepeats = 64;
constexpr double kScales[] = {1, 4, 16};
constexpr double kShifts[] = {0, -4, -8};

// The activations, with their definition in float64. `u` is the number whose power of two is in
// the denominator: x / (1 + 2^u).
struct Silu {
  static constexpr const char* kName = "silu";
  __device__ static Pair exact(Pair x) { return silu(x); }
  __device__ static Pair fast(Pair x) { return FastActivations::silu(x); }
  __device__ static Pair u(Pair x) { return x * -1.4426950408889634f; }
  static double reference(double x) { return x / (1 + std::exp(-x)); }
};
struct GeluTanh {
  static constexpr const char* kName = "gelu_tanh";
  __device__ static Pair exact(Pair x) { return gelu_tanh(x); }
  __device__ static Pair fast(Pair x) { return FastActivations::gelu_tanh(x); }
  __device__ static Pair u(Pair x) { return x * fma(x * x, Pair(-0.10294324f), Pair(-2.3022082f)); }
  static double reference(double x) {
    return x / (1 + std::exp(-1.5957691216057308 * (x + 0.044715 * x * x * x)));
  }
};
struct Gelu {
  static constexpr const char* kName = "gelu";
  __device__ static Pair exact(Pair x) { return gelu(x); }
  static double reference(double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }
};

// With exponential and reciprocal, as generated for f16.
template <typename Activation>
struct Exact {
  static constexpr const char* kName = "exact";
  __device__ static void apply(Pair& x, Pair& y) {
    x = Activation::exact(x);
    y = Activation::exact(y);
  }
};

// One reciprocal for four elements instead of two. The products stay below 2^126.
template <typename Activation>
struct OneReciprocal {
  static constexpr const char* kName = "one reciprocal for four";
  __device__ static Pair one_plus(Pair u) {
    return {1.0f + power_of_two(fminf(u.a, 31.0f)), 1.0f + power_of_two(fminf(u.b, 31.0f))};
  }
  __device__ static void apply(Pair& x, Pair& y) {
    const Pair s = one_plus(Activation::u(x)), t = one_plus(Activation::u(y));
    const float first = s.a * s.b, second = t.a * t.b;
    const float all = reciprocal(first * second);
    const float over_first = all * second, over_second = all * first;
    x = max(x, Pair(-32.0f)) * Pair(over_first * s.b, over_first * s.a);
    y = max(y, Pair(-32.0f)) * Pair(over_second * t.b, over_second * t.a);
  }
};

// With tanh.approx, as generated for bf16.
template <typename Activation>
struct Fast {
  static constexpr const char* kName = "fast";
  __device__ static void apply(Pair& x, Pair& y) {
    x = Activation::fast(x);
    y = Activation::fast(y);
  }
};

// The function of CUDA.
struct LibraryErf {
  static constexpr const char* kName = "normcdff";
  __device__ static void apply(Pair& x, Pair& y) {
    x = x * Pair(::normcdff(x.a), ::normcdff(x.b));
    y = y * Pair(::normcdff(y.a), ::normcdff(y.b));
  }
};

template <typename Form>
__global__ void evaluate(const float* x, float* out) {
  const int at = 4 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  Pair first(x[at], x[at + 1]), second(x[at + 2], x[at + 3]);
  Form::apply(first, second);
  out[at] = first.a;
  out[at + 1] = first.b;
  out[at + 2] = second.a;
  out[at + 3] = second.b;
}

template <typename Form>
__global__ void __launch_bounds__(kThreads) measure(float seed, long long* cycles, unsigned* out) {
  float d[kHeld];
#pragma unroll
  for (int i = 0; i < kHeld; ++i) d[i] = seed * static_cast<float>(threadIdx.x + i);
  unsigned result = 0;
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
#pragma unroll
    for (int i = 0; i < kHeld; i += 4) {
      Pair first(d[i], d[i + 1]), second(d[i + 2], d[i + 3]);
      Form::apply(first, second);
      result ^= packed<bf16>(first) + packed<bf16>(second);
    }
    // So that the next repetition is not the same.
#pragma unroll
    for (int i = 0; i < kHeld; ++i) d[i] += seed;
  }
  __syncthreads();
  if (threadIdx.x == 0) *cycles = clock64() - start;
  out[threadIdx.x] = result;
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "activation_forms: %s\n", cudaGetErrorString(code));
  std::exit(2);
}

// Normally distributed numbers, the same in every run.
class Normals {
 public:
  double next() {
    constexpr double kTurn = 6.283185307179586;
    return std::sqrt(-2 * std::log(uniform())) * std::cos(kTurn * uniform());
  }

 private:
  double uniform() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (static_cast<double>(state_ >> 11) + 1) / 9007199254740994.0;
  }
  unsigned long long state_ = 1;
};

float to_bf16(float x) {
  unsigned bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

struct Inputs {
  std::vector<float> gate, up;
};

Inputs make_inputs(double scale, double shift) {
  Normals normals;
  Inputs in;
  for (int i = 0; i < kElements; ++i) {
    in.gate.push_back(static_cast<float>(shift + scale * normals.next()));
    in.up.push_back(static_cast<float>(normals.next()));
  }
  return in;
}

struct Errors {
  double rms;  // of h in bf16, relative to the rms of h
  double max;  // of the activation, before rounding
};

template <typename Activation, typename Form>
Errors errors_of(const Inputs& in) {
  float *x = nullptr, *y = nullptr;
  check(cudaMalloc(&x, kElements * sizeof(float)));
  check(cudaMalloc(&y, kElements * sizeof(float)));
  check(cudaMemcpy(x, in.gate.data(), kElements * sizeof(float), cudaMemcpyHostToDevice));
  evaluate<Form><<<kElements / 4 / kThreads, kThreads>>>(x, y);
  std::vector<float> out(kElements);
  check(cudaMemcpy(out.data(), y, kElements * sizeof(float), cudaMemcpyDeviceToHost));
  check(cudaFree(x));
  check(cudaFree(y));
  double squares = 0, magnitude = 0, largest = 0;
  for (int i = 0; i < kElements; ++i) {
    const double expected = Activation::reference(in.gate[i]);
    const double h = expected * in.up[i];
    const double error = to_bf16(out[i] * in.up[i]) - h;
    squares += error * error;
    magnitude += h * h;
    largest = std::max(largest, std::abs(out[i] - expected));
  }
  return {std::sqrt(squares / magnitude), largest};
}

template <typename Form>
double cycles_per_element() {
  long long* cycles = nullptr;
  unsigned* out = nullptr;
  check(cudaMalloc(&cycles, sizeof *cycles));
  check(cudaMalloc(&out, kThreads * sizeof *out));
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    measure<Form><<<1, kThreads>>>(0.01f, cycles, out);
    long long value = 0;
    check(cudaMemcpy(&value, cycles, sizeof value, cudaMemcpyDeviceToHost));
    times.push_back(static_cast<double>(value) / kRepeats / kHeld);
  }
  check(cudaFree(cycles));
  check(cudaFree(out));
  std::nth_element(times.begin(), times.begin() + 4, times.end());
  return times[4];
}

template <typename Activation, typename Form>
void print_form() {
  std::printf("%-10s %-24s %6.2f  ", Activation::kName, Form::kName, cycles_per_element<Form>());
  for (const double shift : kShifts) {
    for (const double scale : kScales) {
      const Inputs in = make_inputs(scale, shift);
      const Errors exact = errors_of<Activation, Exact<Activation>>(in);
      const Errors errors = errors_of<Activation, Form>(in);
      std::printf(" %6.3f %7.1e", errors.rms / exact.rms, errors.max);
    }
  }
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf("rms error of h relative to the exact form's, and largest error of the activation\n");
  std::printf("%-10s %-24s %6s  ", "activation", "form", "cycles");
  for (const double shift : kShifts) {
    for (const double scale : kScales) std::printf(" %4.0f + %-4.0fx    ", shift, scale);
  }
  std::printf("\n");
  print_form<Silu, Exact<Silu>>();
  print_form<Silu, OneReciprocal<Silu>>();
  print_form<Silu, Fast<Silu>>();
  print_form<GeluTanh, Exact<GeluTanh>>();
  print_form<GeluTanh, OneReciprocal<GeluTanh>>();
  print_form<GeluTanh, Fast<GeluTanh>>();
  print_form<Gelu, Exact<Gelu>>();
  print_form<Gelu, LibraryErf>();
  return 0;
}
