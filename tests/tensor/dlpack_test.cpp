// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/dlpack.h"

#include <gtest/gtest.h>

#include "epilogue/tensor/factories.h"

namespace epi {
namespace {

// A tensor of another library, which counts calls to its deleter.
struct Producer {
  std::vector<float> values{0, 1, 2, 3, 4, 5};
  std::vector<int64_t> shape{2, 3};
  std::vector<int64_t> strides;
  int deleted = 0;
  DLManagedTensor managed{};

  DLManagedTensor* make() {
    managed.dl_tensor = {values.data(),
                         {kDLCPU, 0},
                         2,
                         {kDLFloat, 32, 1},
                         shape.data(),
                         strides.empty() ? nullptr : strides.data(),
                         0};
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* m) { ++static_cast<Producer*>(m->manager_ctx)->deleted; };
    return &managed;
  }
};

TEST(DLPack, RoundTripSharesMemoryForEveryDtype) {
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kI64,
                            DType::kI32, DType::kBool, DType::kI8}) {
    const Tensor x = zeros({2, 3}, {dtype, kCpu});
    const Tensor t = x.with_layout("t", {{3, 2}, {1, 3}}, 0);
    const Tensor back = from_dlpack(to_dlpack(t));
    EXPECT_EQ(back.raw_data(), x.raw_data());
    EXPECT_EQ(back.layout(), t.layout());
    EXPECT_EQ(back.dtype(), dtype);
  }
}

TEST(DLPack, RunsDeleterAfterTheLastView) {
  Producer producer;
  {
    const Tensor x = from_dlpack(producer.make());
    EXPECT_EQ(x.strides(), (Dims{3, 1}));
    const Tensor row = x.with_layout("row", {{3}, {1}}, x.offset() + 3);
    EXPECT_EQ(row.data<float>()[0], 3);
    EXPECT_EQ(producer.deleted, 0);
  }
  EXPECT_EQ(producer.deleted, 1);
}

TEST(DLPack, ImportsNegativeStridesAndByteOffsets) {
  Producer producer;
  producer.strides = {3, -1};
  DLManagedTensor* managed = producer.make();
  managed->dl_tensor.byte_offset = 8;
  const Tensor x = from_dlpack(managed);
  EXPECT_EQ(x.data<float>()[0], 2);
  EXPECT_EQ(x.data<float>()[x.stride(0) + 2 * x.stride(1)], 3);
}

TEST(DLPack, DeletesAndRejectsUnsupportedTensors) {
  Producer producer;
  DLManagedTensor* managed = producer.make();
  managed->dl_tensor.device.device_type = kDLMetal;
  EXPECT_THROW(from_dlpack(managed), Error);
  managed = producer.make();
  managed->dl_tensor.dtype = {kDLInt, 16, 1};
  EXPECT_THROW(from_dlpack(managed), Error);
  managed = producer.make();
  managed->dl_tensor.dtype.lanes = 4;
  EXPECT_THROW(from_dlpack(managed), Error);
  managed = producer.make();
  managed->dl_tensor.byte_offset = 2;
  EXPECT_THROW(from_dlpack(managed), Error);
  managed = producer.make();
  managed->dl_tensor.dtype = {kDLUInt, 8, 1};  // bytes are not booleans
  EXPECT_THROW(from_dlpack(managed), Error);
  managed = producer.make();
  managed->dl_tensor.data = nullptr;
  EXPECT_THROW(from_dlpack(managed), Error);
  managed = producer.make();
  managed->dl_tensor.ndim = -1;
  EXPECT_THROW(from_dlpack(managed), Error);
  producer.shape[0] = -2;
  EXPECT_THROW(from_dlpack(producer.make()), Error);
  EXPECT_EQ(producer.deleted, 8);
  EXPECT_THROW(to_dlpack(empty({2}, {DType::kF32, kMeta})), Error);
}

TEST(DLPack, ExportOutlivesTheTensor) {
  DLManagedTensor* managed = nullptr;
  {
    const Tensor x = full({4}, 7);
    managed = to_dlpack(x);
  }
  EXPECT_EQ(static_cast<float*>(managed->dl_tensor.data)[3], 7);
  managed->deleter(managed);
}

}  // namespace
}  // namespace epi
