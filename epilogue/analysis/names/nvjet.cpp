// SPDX-License-Identifier: Apache-2.0
// nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT: cuBLAS GEMMs from Hopper on. Architecture
// (absent in older versions), types, tile m x n, tile k x stages, cluster, flags, and the layout of
// A, B and the result. From sm120 on: nvjet_sm120_tst_mma_64x64x128_3_32x32x128_..._TNNN, with tile
// m x n x k, stages, and the warp tile.
#include <algorithm>

#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

// "tst" is input, accumulator, output. "qqtst" is A, B, C, accumulator, D.
void read_types(std::string_view letters, DecodedName& out) {
  const bool known = std::all_of(letters.begin(), letters.end(), [](char letter) {
    return blas_type(letter) != NumberType::kUnknown;
  });
  if (!known || (letters.size() != 3 && letters.size() != 5)) return;  // "mma" is not a type
  out.dtype = blas_type(letters.front());
  out.accumulate = blas_type(letters[letters.size() - 2]);
  out.output = blas_type(letters.back());
}

}  // namespace

bool read_nvjet(std::string_view name, DecodedName& out) {
  if (!name.starts_with("nvjet_")) return false;
  out.library = Library::kCublas;
  out.kind = Kind::kGemm;
  out.tensor_cores = true;
  out.split_k = false;
  Words words(name.substr(6));
  int sizes_seen = 0;
  while (const auto word = words.next()) {
    if (sizes_seen == 0 && word->starts_with("sm") && number(word->substr(2, 2))) {
      out.arch = *word;
    } else if (const auto size = sizes(*word)) {
      const auto [a, b, c] = size->values;
      if (sizes_seen == 0) out.tile = {a, b, c};
      if (sizes_seen == 1 && size->count == 2) out.tile[2] = a, out.stages = b;
      if (sizes_seen == 2)
        out.cluster.assign(size->values.begin(), size->values.begin() + size->count);
      ++sizes_seen;
    } else if (sizes_seen == 0 && *word == "tf32") {
      out.dtype = NumberType::kTf32;
    } else if (sizes_seen == 0) {
      read_types(*word, out);
    } else if (const auto stages = number(*word); stages && sizes_seen == 1) {
      out.stages = *stages;
    } else if (*word == "splitK") {
      out.split_k = true;
    } else if (std::string order = layout(*word); word->size() >= 3 && !order.empty()) {
      out.layout = std::move(order);
    } else {
      add_epilogue(*word, out.epilogue);
    }
  }
  return true;
}

}  // namespace epi::analysis::names
