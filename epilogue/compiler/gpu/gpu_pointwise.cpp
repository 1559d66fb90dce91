// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/gpu/gpu_pointwise.h"

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/gpu/gpu_code.h"
#include "epilogue/tensor/layout.h"

namespace epi::compiler {
namespace {

std::vector<int64_t> element_bytes(const PointwiseCode& code) {
  std::vector<int64_t> bytes;
  for (const DType dtype : code.outputs) bytes.push_back(size_bytes(dtype));
  for (const auto& input : code.inputs) bytes.push_back(size_bytes(input.dtype));
  return bytes;
}

FusedShape merged_shape(const PointwiseCode& code, Dims shape, std::vector<Dims> strides) {
  merge_dims(shape, strides);
  const auto bytes = element_bytes(code);
  FusedShape result;
  result.rank = shape.rank();
  result.operands = static_cast<int>(strides.size());
  std::copy(shape.begin(), shape.end(), result.shape);
  for (size_t i = 0; i < strides.size(); ++i) {
    std::copy(strides[i].begin(), strides[i].end(), result.strides[i]);
    result.element_bytes[i] = static_cast<int>(bytes[i]);
  }
  return result;
}

}  // namespace

GpuPointwise::GpuPointwise(const GpuFunctions& functions, const PointwiseCode& code, Dims shape,
                           std::vector<Dims> strides)
    : functions_(functions) {
  EPI_CHECK(strides.size() <= kMaxGpuOperands);
  if (numel(shape) == 0) return;
  const FusedShape whole = merged_shape(code, shape, std::move(strides));
  const int vector = cuda_vector(code);
  for (int i = 0; i < whole.operands; ++i) {
    const bool is_broadcast =
        i >= static_cast<int>(code.outputs.size()) && whole.strides[i][whole.rank - 1] == 0;
    alignments_.push_back(is_broadcast ? 1
                                       : static_cast<uintptr_t>(vector * whole.element_bytes[i]));
  }
  // The base addresses are null here, so the addresses of a piece are its offsets.
  cuda::for_each_piece(whole, [&](const FusedShape& shape_of_piece) {
    const bool has_vectors = cuda::strides_allow_vectors(shape_of_piece, vector);
    Piece piece{{},
                FusedWalk(shape_of_piece, 1),
                FusedWalk(shape_of_piece, has_vectors ? vector : 1),
                has_vectors};
    for (int i = 0; i < whole.operands; ++i) {
      piece.offsets.push_back(
          static_cast<int64_t>(reinterpret_cast<intptr_t>(shape_of_piece.data[i])));
    }
    pieces_.push_back(std::move(piece));
  });
}

void GpuPointwise::launch(std::span<std::byte* const> addresses, int device) const {
  for (const Piece& piece : pieces_) launch(piece, addresses, device);
}

void GpuPointwise::launch(const Piece& piece, std::span<std::byte* const> addresses,
                          int device) const {
  bool vectors = piece.has_vectors;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const auto address = reinterpret_cast<uintptr_t>(addresses[i] + piece.offsets[i]);
    vectors = vectors && address % alignments_[i] == 0;
  }
  FusedWalk walk = vectors ? piece.vectors : piece.strided;
  for (size_t i = 0; i < addresses.size(); ++i) {
    walk.set_address(static_cast<int>(i), addresses[i] + piece.offsets[i]);
  }
  const uint32_t blocks = (walk.items() + kCudaThreads - 1) / kCudaThreads;
  void* arguments[] = {walk.argument()};
  launch_gpu({vectors ? functions_.vectors : functions_.strided, blocks, kCudaThreads, 0,
              functions_.overlaps},
             arguments, device, gpu_stream(device));
}

}  // namespace epi::compiler
