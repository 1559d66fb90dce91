// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/dlpack.h"

#include <memory>

namespace epi {
namespace {

constexpr uint8_t kDlBool = 6;  // kDLBool, missing from headers before DLPack 0.8

DType from_dl(DLDataType type) {
  const int key = type.lanes == 1 ? type.code * 1000 + type.bits : -1;
  switch (key) {
    case kDLFloat * 1000 + 64:
      return DType::kF64;
    case kDLFloat * 1000 + 32:
      return DType::kF32;
    case kDLFloat * 1000 + 16:
      return DType::kF16;
    case kDLBfloat * 1000 + 16:
      return DType::kBF16;
    case kDLInt * 1000 + 64:
      return DType::kI64;
    case kDLInt * 1000 + 32:
      return DType::kI32;
    case kDLInt * 1000 + 8:
      return DType::kI8;
    case kDlBool * 1000 + 8:
      return DType::kBool;
    default:
      break;
  }
  fail("from_dlpack", "unsupported DLPack dtype: code {}, {} bits, {} lanes", type.code, type.bits,
       type.lanes);
}

Device device_of(DLDevice device) {
  if (device.device_type == kDLCPU) return kCpu;
  if (device.device_type != kDLCUDA) {
    fail("from_dlpack", "needs CPU or CUDA memory, got DLPack device type {}",
         static_cast<int>(device.device_type));
  }
  if (device.device_id < 0 || device.device_id > INT8_MAX) {
    fail("from_dlpack", "invalid device cuda:{}", device.device_id);
  }
  return {DeviceType::kCuda, static_cast<int8_t>(device.device_id)};
}

struct Exported {
  Tensor tensor;
  DLManagedTensor managed{};
};

using Managed = std::unique_ptr<DLManagedTensor, void (*)(DLManagedTensor*)>;

Layout layout_of(const DLTensor& dl) {
  if (dl.ndim < 0) fail("from_dlpack", "rank must not be negative: {}", dl.ndim);
  const auto rank = static_cast<size_t>(dl.ndim);
  Layout layout;
  layout.shape = Dims(std::span<const int64_t>(dl.shape, rank));
  layout.strides = dl.strides == nullptr ? contiguous_strides(layout.shape)
                                         : Dims(std::span<const int64_t>(dl.strides, rank));
  for (const int64_t size : layout.shape) {
    if (size < 0) fail("from_dlpack", "sizes cannot be negative: {}", to_string(layout.shape));
  }
  if (dl.data == nullptr && numel(layout.shape) > 0) {
    fail("from_dlpack", "data is null, but shape {} has elements", to_string(layout.shape));
  }
  return layout;
}

}  // namespace

DLDataType dl_data_type(DType dtype) {
  const auto bits = static_cast<uint8_t>(size_bytes(dtype) * 8);
  switch (dtype) {
    case DType::kBF16:
      return {kDLBfloat, bits, 1};
    case DType::kI64:
    case DType::kI32:
    case DType::kI8:
      return {kDLInt, bits, 1};
    case DType::kBool:
      return {kDlBool, bits, 1};
    default:
      return {kDLFloat, bits, 1};
  }
}

DLDevice dl_device(Device device) { return {device == kCpu ? kDLCPU : kDLCUDA, device.index}; }

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  if (!tensor.defined() || tensor.device() == kMeta) {
    fail("to_dlpack", "needs a tensor on the CPU or on a CUDA device");
  }
  auto* exported = new Exported{tensor, {}};
  DLTensor& dl = exported->managed.dl_tensor;
  dl.data = tensor.raw_data();
  dl.device = dl_device(tensor.device());
  dl.ndim = tensor.dim();
  dl.dtype = dl_data_type(tensor.dtype());
  dl.shape = const_cast<int64_t*>(exported->tensor.shape().begin());
  dl.strides = const_cast<int64_t*>(exported->tensor.strides().begin());
  dl.byte_offset = 0;
  exported->managed.manager_ctx = exported;
  exported->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Exported*>(self->manager_ctx);
  };
  return &exported->managed;
}

Tensor from_dlpack(DLManagedTensor* managed) {
  Managed owner(managed, [](DLManagedTensor* m) {
    if (m->deleter != nullptr) m->deleter(m);
  });
  const DLTensor& dl = managed->dl_tensor;
  const Device device = device_of(dl.device);
  const DType dtype = from_dl(dl.dtype);
  const Layout layout = layout_of(dl);
  const Extent touched = extent(layout);
  const int64_t element = size_bytes(dtype);
  std::byte* first = static_cast<std::byte*>(dl.data) + dl.byte_offset;
  if (reinterpret_cast<uintptr_t>(first) % static_cast<uintptr_t>(element) != 0) {
    fail("from_dlpack", "data is not aligned to its element size of {} bytes", element);
  }
  auto shared = std::make_shared<Managed>(std::move(owner));
  auto storage = Storage::wrap(device, first + touched.begin * element,
                               (touched.end - touched.begin) * element, [shared] {});
  return {std::move(storage), layout, -touched.begin, dtype};
}

}  // namespace epi
