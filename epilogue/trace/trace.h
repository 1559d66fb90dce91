// SPDX-License-Identifier: Apache-2.0
// The columnar event store: one array per field, names interned, times in integer nanoseconds,
// arguments kept as JSON text. The profiler fills it from memory and the reader from files, and its
// users need not know which.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "epilogue/trace/category.h"
#include "epilogue/trace/defects.h"

namespace epi::trace {

using NameId = uint32_t;
using LaneId = uint32_t;
using EventId = uint32_t;  // the event's index in every column
inline constexpr EventId kNoEvent = UINT32_MAX;

// Chrome's `ph`.
enum class Phase : char {
  kComplete = 'X',
  kInstant = 'i',
  kMetadata = 'M',
  kFlowStart = 's',
  kFlowEnd = 'f',
  kCounter = 'C',
  // Start and end of an event. `join_begin_end` joins them into one.
  kBegin = 'B',
  kEnd = 'E',
};

// Interned strings. Views stay valid as long as the table lives, even if it is moved.
class Names {
 public:
  Names() : texts_(std::make_unique<std::deque<std::string>>()) {}
  Names(Names&&) noexcept = default;
  Names& operator=(Names&&) noexcept = default;
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  NameId intern(std::string_view text);
  std::string_view operator[](NameId id) const { return (*texts_)[id]; }
  size_t size() const { return texts_->size(); }

 private:
  // A slot of the hash table, which is never more than half full.
  struct Slot {
    uint32_t hash = 0;
    uint32_t id_plus_one = 0;  // 0: free
  };
  Slot& find_slot(std::string_view text, uint32_t hash);
  void grow();

  // By pointer, because moving a deque allocates in libstdc++. Null after a move.
  std::unique_ptr<std::deque<std::string>> texts_;
  std::vector<Slot> slots_;
};

// Where an event ran: a thread of a process, or a stream of a device. In files, either id may be a
// string. The number is then 0.
struct Lane {
  int64_t pid = 0;
  int64_t tid = 0;
  std::string pid_text{};
  std::string tid_text{};

  bool operator==(const Lane&) const = default;
};

// A range of Trace::args_text: a JSON object, or empty. Packed, because every event has one:
// it takes 12 bytes instead of 16. A reference cannot be bound to a member.
struct [[gnu::packed, gnu::aligned(4)]] ArgsRange {
  uint64_t offset = 0;
  uint32_t size = 0;
};
static_assert(sizeof(ArgsRange) == 12);

// One row. The id of a flow is stored in `correlation`.
struct Event {
  Phase phase = Phase::kComplete;
  Category category = Category::kNone;
  NameId name = 0;
  LaneId lane = 0;
  int64_t ts_ns = 0;  // since Trace::base_time_ns
  int64_t dur_ns = 0;
  int64_t external_id = 0;  // 0: none
  int64_t correlation = 0;  // 0: none
  ArgsRange args{};
};

struct Trace {
  Names names;
  std::vector<Lane> lanes;  // added by find_or_add_lane
  // The members of the file's object other than its events, in order, as key and JSON value.
  std::vector<std::pair<std::string, std::string>> properties;
  int64_t base_time_ns = 0;  // since 1970; 0 if the file's times are absolute
  // The text that the ranges in `args` refer to. Shared with a mapped file or a generated text.
  std::shared_ptr<const char> args_text;

  std::vector<Phase> phase;
  std::vector<Category> category;
  std::vector<NameId> name;
  std::vector<LaneId> lane;
  std::vector<int64_t> ts_ns;
  std::vector<int64_t> dur_ns;
  std::vector<int64_t> external_id;
  std::vector<int64_t> correlation;
  std::vector<ArgsRange> args;
  // The category names of events whose category is kOther.
  std::unordered_map<EventId, NameId> other_categories;
  Defects defects;  // of the file that the trace was read from
  // The user's regular expression for step markers, searched for in names. Empty if not set.
  std::string step_pattern;

  EventId size() const { return static_cast<EventId>(ts_ns.size()); }
  void reserve(size_t events);
  // Drops events beyond the new size. Added events are empty.
  void resize(size_t events);
  EventId push(const Event& event);

  // The lane with these ids, added if it does not exist.
  LaneId find_or_add_lane(const Lane& ids);

  std::string_view name_of(EventId id) const { return names[name[id]]; }
  // As written in the file: "cpu_op". Empty if the event has none.
  std::string_view category_text(EventId id) const;
  int64_t end_ns(EventId id) const { return ts_ns[id] + dur_ns[id]; }
  bool is_span(EventId id) const { return phase[id] == Phase::kComplete; }
  // The text of the event's `args` object. Empty if it has none.
  std::string_view args_of(EventId id) const {
    return {args_text.get() + args[id].offset, args[id].size};
  }
  // The JSON value of a property. Empty if the file does not have it.
  std::string_view property(std::string_view key) const;

 private:
  std::unordered_map<std::string, LaneId> lane_ids_;
};

template <typename T, typename Owner>
using MemberPointer = T Owner::*;

// A column, and the field of `Event` that it stores.
template <typename T>
struct Column {
  MemberPointer<std::vector<T>, Trace> values;
  MemberPointer<T, Event> field;
};

// All columns. Code that adds, drops or joins events iterates over this table.
inline constexpr std::tuple kColumns{
    Column{&Trace::ts_ns, &Event::ts_ns},
    Column{&Trace::dur_ns, &Event::dur_ns},
    Column{&Trace::external_id, &Event::external_id},
    Column{&Trace::correlation, &Event::correlation},
    Column{&Trace::args, &Event::args},
    Column{&Trace::phase, &Event::phase},
    Column{&Trace::category, &Event::category},
    Column{&Trace::name, &Event::name},
    Column{&Trace::lane, &Event::lane},
};

template <typename Visit>
void for_each_column(Visit&& visit) {
  std::apply([&](const auto&... column) { (visit(column), ...); }, kColumns);
}

}  // namespace epi::trace
