// SPDX-License-Identifier: Apache-2.0
// int8 weights: each is stored as an integer from -127 to 127 times the scale of its row, or of
// its group of 32 along the row. They are saved and loaded as "<name>.weight" (I8, [out, in]) and
// "<name>.weight_scale" ([out, 1] or [out, groups]). CPU only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "epilogue/nn/linear.h"

namespace epi::nn {

struct Int8Weight {
  Tensor weight;  // i8 [out, in]
  Tensor scale;   // f32 [out, 1] or [out, groups]
};
// Rounds each weight to the nearest multiple of its scale, which is the largest magnitude of the
// row or group divided by 127. Throws `Error`, which starts with `place`, if the weight is not
// 2-dimensional, floating-point and finite.
Int8Weight quantize_weight(const Tensor& weight, bool in_groups = true,
                           std::string_view place = "the weight");

// The error that int8 adds to x @ weight.t(), for normally distributed x: root mean square of the
// differences, relative to that of the result.
struct Int8Error {
  double float_input = 0;  // only the weight is quantized
  double int8_input = 0;   // x as well
};
Int8Error measure_int8_error(const Tensor& weight, const Int8Weight& quantized);

struct QuantizeOptions {
  bool in_groups = true;   // one scale for every 32 weights of a row instead of one per row
  bool int8_input = true;  // the layers also quantize their inputs
};
struct QuantizedLayer {
  std::string name;  // "gate_proj"; empty for a module that is one layer
  Int8Error error;
};
// Quantizes every layer of the module that Module::layers lists. Throws `Error` if there is none,
// or if one is not on the CPU or has int8 weights already; the module is then unchanged. Functions
// that were compiled before keep the old weights.
std::vector<QuantizedLayer> quantize(Module& module, const QuantizeOptions& options = {});

}  // namespace epi::nn
