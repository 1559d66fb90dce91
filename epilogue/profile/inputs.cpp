// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/inputs.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <utility>

#include "epilogue/base/join.h"
#include "epilogue/base/json_writer.h"

namespace epi::profile {
namespace {

// An argument is a head word followed by its data: shape and strides of a tensor, the tensors (each
// with a head word) or numbers of a list, or the value of a scalar.
int64_t head_word(Arg::Kind kind, DType dtype, size_t count) {
  return static_cast<int64_t>(kind) | (static_cast<int64_t>(dtype) << 8) |
         (static_cast<int64_t>(count) << 16);
}

size_t tensor_words(const Tensor& tensor) {
  return tensor.defined() ? 1 + 2 * static_cast<size_t>(tensor.dim()) : 1;
}

size_t arg_words(const Arg& arg) {
  switch (arg.kind()) {
    case Arg::Kind::kTensor:
      return tensor_words(arg.tensor());
    case Arg::Kind::kTensors: {
      size_t words = 1;
      for (const Tensor& tensor : arg.tensors()) words += tensor_words(tensor);
      return words;
    }
    case Arg::Kind::kInts:
      return 1 + static_cast<size_t>(arg.ints().rank());
    case Arg::Kind::kInt:
    case Arg::Kind::kFloat:
    case Arg::Kind::kBool:
      return 2;
    case Arg::Kind::kNone:
    case Arg::Kind::kString:
      break;
  }
  return 1;
}

int64_t* pack_dims(const Dims& dims, int64_t* to) {
  for (const int64_t size : dims) *to++ = size;
  return to;
}

int64_t* pack_tensor(const Tensor& tensor, int64_t* to) {
  if (!tensor.defined()) {
    *to++ = head_word(Arg::Kind::kNone, DType::kF32, 0);
    return to;
  }
  *to++ = head_word(Arg::Kind::kTensor, tensor.dtype(), static_cast<size_t>(tensor.dim()));
  return pack_dims(tensor.strides(), pack_dims(tensor.shape(), to));
}

int64_t* pack_arg(const Arg& arg, int64_t* to) {
  const Arg::Kind kind = arg.kind();
  switch (kind) {
    case Arg::Kind::kTensor:
      return pack_tensor(arg.tensor(), to);
    case Arg::Kind::kTensors:
      *to++ = head_word(kind, DType::kF32, arg.tensors().size());
      for (const Tensor& tensor : arg.tensors()) to = pack_tensor(tensor, to);
      return to;
    case Arg::Kind::kInts:
      *to++ = head_word(kind, DType::kF32, static_cast<size_t>(arg.ints().rank()));
      return pack_dims(arg.ints(), to);
    case Arg::Kind::kInt:
      *to++ = head_word(kind, DType::kF32, 1);
      *to++ = arg.integer();
      return to;
    case Arg::Kind::kFloat:
      *to++ = head_word(kind, DType::kF32, 1);
      *to++ = std::bit_cast<int64_t>(arg.number());
      return to;
    case Arg::Kind::kBool:
      *to++ = head_word(kind, DType::kF32, 1);
      *to++ = arg.flag() ? 1 : 0;
      return to;
    case Arg::Kind::kNone:
    case Arg::Kind::kString:
      break;
  }
  *to++ = head_word(kind, DType::kF32, 0);
  return to;
}

// The C++ type names in PyTorch's traces.
const char* type_name(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return "double";
    case DType::kF32:
      return "float";
    case DType::kBF16:
      return "c10::BFloat16";
    case DType::kF16:
      return "c10::Half";
    case DType::kI64:
      return "long int";
    case DType::kI32:
      return "int";
    case DType::kBool:
      return "bool";
    case DType::kI8:
      return "signed char";
  }
  return "";
}

// Formats a scalar as PyTorch does: "1." for a whole number, 17 digits otherwise.
std::string real_text(double value) {
  if (std::abs(value) < 1e10 && value == std::trunc(value)) return fmt::format("{:.0f}.", value);
  return fmt::format("{:.17g}", value);
}

std::string list_text(std::span<const int64_t> numbers) {
  return fmt::format("[{}]", join(numbers, ", "));
}

// The four parallel lists.
struct Lists {
  std::string concrete, types, strides, dims;

  void add(const std::string& value, const char* type, const std::string& stride_list = "[]",
           const std::string& dim_list = "[]") {
    const char* separator = concrete.empty() ? "" : ", ";
    concrete.append(separator).append(json_quoted(value));
    types.append(separator).append(json_quoted(type));
    strides.append(separator).append(stride_list);
    dims.append(separator).append(dim_list);
  }
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const int64_t> words) : words_(words) {}

  std::string json() {
    while (!words_.empty()) unpack_arg();
    return fmt::format(R"({{"Concrete Inputs": [{}], "Input type": [{}], )"
                       R"("Input Strides": [{}], "Input Dims": [{}]}})",
                       lists_.concrete, lists_.types, lists_.strides, lists_.dims);
  }

 private:
  struct Head {
    Arg::Kind kind;
    DType dtype;
    size_t count;
  };

  std::span<const int64_t> take(size_t count) {
    const auto taken = words_.first(count);
    words_ = words_.subspan(count);
    return taken;
  }
  Head take_head() {
    const int64_t word = take(1)[0];
    return {static_cast<Arg::Kind>(word & 0xFF), static_cast<DType>((word >> 8) & 0xFF),
            static_cast<size_t>(word >> 16)};
  }
  // Returns shape and strides as lists.
  std::pair<std::string, std::string> take_layout(const Head& head) {
    if (head.kind != Arg::Kind::kTensor) return {"[]", "[]"};
    std::string dims = list_text(take(head.count));
    return {std::move(dims), list_text(take(head.count))};
  }

  void unpack_arg() {
    const Head head = take_head();
    switch (head.kind) {
      case Arg::Kind::kTensor: {
        const auto [dims, strides] = take_layout(head);
        return lists_.add("", type_name(head.dtype), strides, dims);
      }
      case Arg::Kind::kTensors:
        return unpack_tensors(head.count);
      case Arg::Kind::kInts:
        return lists_.add(list_text(take(head.count)), "ScalarList");
      case Arg::Kind::kInt:
        return lists_.add(fmt::format("{}", take(1)[0]), "Scalar");
      case Arg::Kind::kFloat:
        return lists_.add(real_text(std::bit_cast<double>(take(1)[0])), "Scalar");
      case Arg::Kind::kBool:
        return lists_.add(take(1)[0] != 0 ? "True" : "False", "Scalar");
      case Arg::Kind::kNone:
      case Arg::Kind::kString:  // PyTorch leaves strings out
        return lists_.add("", "");
    }
  }

  void unpack_tensors(size_t count) {
    std::string dims;
    std::string strides;
    for (size_t i = 0; i < count; ++i) {
      const auto [shape, steps] = take_layout(take_head());
      dims.append(i == 0 ? "" : ", ").append(shape);
      strides.append(i == 0 ? "" : ", ").append(steps);
    }
    lists_.add("", "TensorList", fmt::format("[{}]", strides), fmt::format("[{}]", dims));
  }

  std::span<const int64_t> words_;
  Lists lists_;
};

}  // namespace

size_t packed_words(Args args) {
  size_t words = 0;
  for (const Arg& arg : args) words += arg_words(arg);
  return words;
}

void pack_inputs(Args args, int64_t* words) {
  for (const Arg& arg : args) words = pack_arg(arg, words);
}

std::string inputs_json(std::span<const int64_t> words) { return Unpacker(words).json(); }

}  // namespace epi::profile
