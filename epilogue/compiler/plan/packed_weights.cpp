// SPDX-License-Identifier: Apache-2.0
// The packed weights of the process, by the weights that they were packed from.
#include <map>
#include <mutex>
#include <tuple>

#include "epilogue/compiler/plan/packing.h"

namespace epi::compiler {
namespace {

struct Packed {
  std::vector<Tensor> weights;  // keeps their storage, and thereby the key, valid
  Tensor panels;
};

// A weight as it is read, and its version.
using WeightKey = std::tuple<const Storage*, uint64_t, int64_t, std::vector<int64_t>>;
using Key = std::tuple<GemmKind, int, int, int64_t, int64_t, DType, bool, std::vector<WeightKey>>;

Key key_of(const GemmCode& code, const GemmTile& tile, const std::vector<Tensor>& weights) {
  std::vector<WeightKey> keys;
  for (const Tensor& weight : weights) {
    keys.emplace_back(weight.storage().get(), weight.storage()->version(), weight.offset(),
                      std::vector<int64_t>(weight.strides().begin(), weight.strides().end()));
  }
  // The layout of int8 weights depends on how x is read, not on its dtype.
  const DType dtype = code.int8 ? DType::kI8 : code.dtype;
  const bool int8_input = code.int8 && code.int8->int8_input;
  return {tile.kind, tile.columns, code.gemms, code.n, code.k, dtype, int8_input, std::move(keys)};
}

struct Shared {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<const Packed>> packed;
};

// Never destroyed: plans may be created while the process ends.
Shared& shared() {
  static auto* instance = new Shared;
  return *instance;
}

}  // namespace

std::shared_ptr<const Tensor> find_packed_weights(const GemmCode& code, const GemmTile& tile,
                                                  const std::vector<Tensor>& weights) {
  const Key key = key_of(code, tile, weights);
  const auto find = [&] {
    std::erase_if(shared().packed, [](const auto& entry) { return entry.second.expired(); });
    const auto found = shared().packed.find(key);
    return found == shared().packed.end() ? nullptr : found->second.lock();
  };
  std::shared_ptr<const Packed> packed;
  {
    const std::lock_guard lock(shared().mutex);
    packed = find();
  }
  if (packed == nullptr) {
    // Without the lock, because the caller's executor may run other work meanwhile.
    packed = std::make_shared<const Packed>(weights, pack_weights(code, tile, weights));
    const std::lock_guard lock(shared().mutex);
    if (auto other = find()) {
      packed = std::move(other);
    } else {
      shared().packed[key] = packed;
    }
  }
  return {packed, &packed->panels};
}

}  // namespace epi::compiler
