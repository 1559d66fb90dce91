// SPDX-License-Identifier: Apache-2.0
// The columnar event store: one array per field, names interned, times in integer nanoseconds,
// arguments left as JSON text. The profiler fills it from memory, the reader from files; whoever
// reads it does not know which.
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
using EventId = uint32_t;  // the event's place in every column
inline constexpr EventId kNoEvent = UINT32_MAX;

// Chrome's `ph`.
enum class Phase : char {
  kComplete = 'X',
  kInstant = 'i',
  kMetadata = 'M',
  kFlowStart = 's',
  kFlowEnd = 'f',
  kCounter = 'C',
  // Halves of an event: `join_begin_end` makes one of them.
  kBegin = 'B',
  kEnd = 'E',
};

// Every distinct text once. Views stay valid as long as the table lives, also when it is moved.
class Names {
 public:
  Names() = default;
  Names(Names&&) noexcept = default;
  Names& operator=(Names&&) noexcept = default;
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  NameId intern(std::string_view text);
  std::string_view operator[](NameId id) const { return texts_[id]; }
  size_t size() const { return texts_.size(); }

 private:
  // A place of the hash table, which is never more than half full.
  struct Slot {
    uint32_t hash = 0;
    uint32_t id_plus_one = 0;  // 0: free
  };
  Slot& find_slot(std::string_view text, uint32_t hash);
  void grow();

  std::deque<std::string> texts_;
  std::vector<Slot> slots_;
};

// Where an event ran: a thread of a process, or a stream of a device. Files may give either id as a
// text; the number is then 0.
struct Lane {
  int64_t pid = 0;
  int64_t tid = 0;
  std::string pid_text{};
  std::string tid_text{};

  bool operator==(const Lane&) const = default;
};

// A range of Trace::args_text: a JSON object, or nothing.
struct ArgsRange {
  uint64_t offset = 0;
  uint32_t size = 0;
};

// One row. Flows carry their id in `correlation`.
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

// The names and lanes of one trace by their numbers in another.
struct Renumbering {
  std::vector<NameId> names;
  std::vector<LaneId> lanes;
};

struct Trace {
  Names names;
  std::vector<Lane> lanes;  // added by find_or_add_lane
  // What a file says beside its events, in order, as key and JSON value.
  std::vector<std::pair<std::string, std::string>> properties;
  int64_t base_time_ns = 0;  // since 1970; 0 where a file's times are absolute
  // What the ranges in `args` refer to. Shared: a mapped file, or a text made up.
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
  // The names of categories that are kOther.
  std::unordered_map<EventId, NameId> other_categories;
  Defects defects;  // of the file that it was read from
  // What marks a step, where the user says so: a regular expression that names must contain.
  std::string step_pattern;

  EventId size() const { return static_cast<EventId>(ts_ns.size()); }
  void reserve(size_t events);
  // Events beyond are dropped; new ones are empty.
  void resize(size_t events);
  EventId push(const Event& event);

  // Takes over another trace's names and lanes; says what they are called here.
  Renumbering adopt_names(const Trace& other);

  // The lane with these ids, made where there is none.
  LaneId find_or_add_lane(const Lane& wanted);

  std::string_view name_of(EventId id) const { return names[name[id]]; }
  // As the file has it: "cpu_op"; empty where the event has none.
  std::string_view category_text(EventId id) const;
  int64_t end_ns(EventId id) const { return ts_ns[id] + dur_ns[id]; }
  bool is_span(EventId id) const { return phase[id] == Phase::kComplete; }
  // The text of the event's `args` object; empty where it has none.
  std::string_view args_of(EventId id) const {
    return {args_text.get() + args[id].offset, args[id].size};
  }
  // The JSON value of a property; empty where the file does not say.
  std::string_view property(std::string_view key) const;

 private:
  std::unordered_map<std::string, LaneId> lane_ids_;
};

// A column, and the field of a row that it holds.
template <typename T>
struct Column {
  std::vector<T> Trace::* values;
  T Event::* field;
};

// Every column, once: whatever adds, drops or joins events goes through this table.
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
