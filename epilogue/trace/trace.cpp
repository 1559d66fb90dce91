// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

namespace epi::trace {

NameId Names::intern(std::string_view text) {
  if (2 * texts_->size() >= slots_.size()) grow();
  const auto hash = static_cast<uint32_t>(std::hash<std::string_view>()(text));
  Slot& slot = find_slot(text, hash);
  if (slot.id_plus_one == 0) {
    texts_->emplace_back(text);
    slot = {hash, static_cast<uint32_t>(texts_->size())};
  }
  return slot.id_plus_one - 1;
}

Names::Slot& Names::find_slot(std::string_view text, uint32_t hash) {
  const size_t mask = slots_.size() - 1;
  for (size_t place = hash & mask;; place = (place + 1) & mask) {
    Slot& slot = slots_[place];
    if (slot.id_plus_one == 0) return slot;
    if (slot.hash == hash && (*texts_)[slot.id_plus_one - 1] == text) return slot;
  }
}

void Names::grow() {
  constexpr size_t kMinSlots = 256;
  slots_.assign(std::max(kMinSlots, 2 * slots_.size()), {});
  for (size_t i = 0; i < texts_->size(); ++i) {
    const auto hash = static_cast<uint32_t>(std::hash<std::string_view>()((*texts_)[i]));
    find_slot((*texts_)[i], hash) = {hash, static_cast<uint32_t>(i + 1)};
  }
}

void Trace::reserve(size_t events) {
  for_each_column([&](const auto& column) { (this->*column.values).reserve(events); });
}

void Trace::resize(size_t events) {
  for_each_column([&](const auto& column) { (this->*column.values).resize(events); });
}

EventId Trace::push(const Event& event) {
  for_each_column(
      [&](const auto& column) { (this->*column.values).push_back(event.*column.field); });
  return size() - 1;
}

namespace {

// Different for different lanes. Without {fmt}, which took 6 % of the instructions of a read,
// because events of several lanes alternate (callgrind, tests/data/traces/llama_train).
std::string lane_key(const Lane& ids) {
  std::array<char, 3 * 21> text;  // three numbers, each with a sign and a space
  char* end = text.data();
  for (const int64_t number : {ids.pid, ids.tid, static_cast<int64_t>(ids.pid_text.size())}) {
    end = std::to_chars(end, text.data() + text.size(), number).ptr;
    *end++ = ' ';
  }
  std::string key(text.data(), end);
  key += ids.pid_text;
  key += ids.tid_text;
  return key;
}

}  // namespace

LaneId Trace::find_or_add_lane(const Lane& ids) {
  const auto [place, is_new] =
      lane_ids_.try_emplace(lane_key(ids), static_cast<LaneId>(lanes.size()));
  if (is_new) lanes.push_back(ids);
  return place->second;
}

std::string_view Trace::category_text(EventId id) const {
  if (category[id] != Category::kOther) return text_of(category[id]);
  const auto found = other_categories.find(id);
  return found == other_categories.end() ? std::string_view() : names[found->second];
}

std::string_view Trace::property(std::string_view key) const {
  const auto found = std::find_if(properties.begin(), properties.end(),
                                  [&](const auto& pair) { return pair.first == key; });
  return found == properties.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace epi::trace
