// SPDX-License-Identifier: Apache-2.0
#include "epilogue/torch/glu_blocks.h"

#include <map>
#include <mutex>
#include <tuple>

namespace epi::torch {
namespace {

using Key = std::tuple<int, int, int, uint32_t, int64_t, int64_t, int64_t>;

Key key_of(const epi_glu_block& block) {
  return {block.device, block.dtype, block.activation, block.biases, block.k, block.n, block.out};
}

GluBlock make_block(const epi_glu_block& block) {
  epi_glu* handle = nullptr;
  epi_glu_status status = epi_glu_create(&block, &handle);
  if (status == EPI_GLU_OK) status = epi_glu_prepare(handle);
  if (status == EPI_GLU_OK) return {handle, ""};
  std::string reason = epi_glu_message();
  if (reason.empty()) reason = epi_glu_status_text(status);
  epi_glu_destroy(handle);
  return {nullptr, reason};
}

}  // namespace

const GluBlock& glu_block(const epi_glu_block& block) {
  const Key key = key_of(block);
  // Layers of a model have the same sizes.
  thread_local Key last_key;
  thread_local const GluBlock* last_block = nullptr;
  if (last_block != nullptr && key == last_key) return *last_block;
  static std::mutex mutex;
  static auto* const blocks = new std::map<Key, GluBlock>;
  const std::lock_guard lock(mutex);
  auto found = blocks->find(key);
  if (found == blocks->end()) found = blocks->emplace(key, make_block(block)).first;
  last_key = key;
  last_block = &found->second;
  return found->second;
}

}  // namespace epi::torch
