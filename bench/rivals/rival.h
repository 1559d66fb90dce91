// SPDX-License-Identifier: Apache-2.0
// Libraries that compute y = x @ w^T on a CPU, behind one interface. Epilogue and oneDNN pack the
// weights when a case is prepared. OpenBLAS and PyTorch's eager `linear` take them as they are.
// With dtype i8, x and y are f32, the weights are int8, and every call quantizes x: in groups of 32
// in Epilogue, as a whole in PyTorch (dynamic quantization). oneDNN gets an x that is int8 already.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "epilogue/tensor/dtype.h"

namespace epi::bench {

struct LinearCase {
  DType dtype = DType::kF32;
  int64_t rows = 1;
  int64_t inputs = 1;
  int64_t outputs = 1;
};

class Rival {
 public:
  Rival() = default;
  Rival(const Rival&) = delete;
  Rival& operator=(const Rival&) = delete;
  virtual ~Rival() = default;

  virtual std::string name() const = 0;
  // Creates the matrices of a case, replacing the previous one. False if the library has no such
  // multiplication.
  virtual bool prepare(const LinearCase& linear) = 0;
  // Multiplies once, to wake threads and fill caches, and then that many times. Returns the time of
  // one of these calls in nanoseconds.
  virtual double run(int64_t calls) = 0;
};

// They use `num_threads()` threads. Null if CMake did not find the library.
std::unique_ptr<Rival> epilogue_rival();
std::unique_ptr<Rival> openblas_rival();
std::unique_ptr<Rival> onednn_rival();
std::unique_ptr<Rival> torch_rival();

}  // namespace epi::bench
