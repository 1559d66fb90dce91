// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "epilogue/analysis/ranks/communication.h"
#include "epilogue/report/idle_class.h"
#include "epilogue/report/ranks_report.h"
#include "epilogue/report/words.h"

namespace epi::report {
namespace {

using analysis::NoStraggler;
using analysis::RankData;
using analysis::Ranks;

constexpr int kDecimals = 3;  // nanoseconds

void us(JsonWriter& json, const char* key, double ns) { json.key(key).fixed(ns / 1000, kDecimals); }
void optional_us(JsonWriter& json, const char* key, const std::optional<double>& ns) {
  json.key(key);
  if (ns) {
    json.fixed(*ns / 1000, kDecimals);
  } else {
    json.null();
  }
}
void optional_real(JsonWriter& json, const char* key, const std::optional<double>& value) {
  json.key(key);
  if (value) {
    json.real(*value);
  } else {
    json.null();
  }
}

const char* key_of(analysis::Between between) {
  switch (between) {
    case analysis::Between::kCompute:
      return "compute";
    case analysis::Between::kCopies:
      return "copies";
    case analysis::Between::kDataLoading:
      return "data loading";
    case analysis::Between::kSynchronizing:
      return "synchronizing";
    case analysis::Between::kHost:
      return "host";
    case analysis::Between::kNotInTrace:
      return "not in trace";
  }
  return "";
}

const char* key_of(NoStraggler reason) {
  switch (reason) {
    case NoStraggler::kNamed:
      return "named";
    case NoStraggler::kNoCollectives:
      return "no collectives";
    case NoStraggler::kRanksMissing:
      return "ranks missing";
    case NoStraggler::kUnknownGroups:
      return "unknown groups";
    case NoStraggler::kDifferent:
      return "different collectives";
    case NoStraggler::kChance:
      return "chance";
  }
  return "";
}

void clock_json(JsonWriter& json, const std::optional<analysis::ClockOffset>& clock) {
  json.key("clock");
  if (!clock) {
    json.null();
    return;
  }
  json.begin_object();
  us(json, "offset_us", clock->offset_ns);
  us(json, "low_us", clock->low_ns);
  us(json, "high_us", clock->high_ns);
  json.key("drift_ppm").real(1e6 * clock->drift);
  json.key("collectives").integer(clock->collectives).end_object();
}

void rank_json(JsonWriter& json, const Ranks& ranks, size_t place, double typical_ns) {
  const RankData& rank = ranks.ranks[place];
  const analysis::RankTimes times = times_of(rank);
  json.begin_object().key("file").string(rank.file).key("rank");
  if (rank.has_rank) {
    json.integer(rank.rank);
  } else {
    json.null();
  }
  json.key("host");
  if (rank.host.empty()) {
    json.null();
  } else {
    json.string(rank.host);
  }
  json.key("device").string(rank.device).key("limiter").string(short_regime_of(rank.limiter));
  json.key("steps").integer(static_cast<int64_t>(rank.steps.size()));
  us(json, "step_us", times.step_ns);
  optional_real(json, "deviation",
                typical_ns > 0 && times.step_ns > 0 ? std::optional(times.step_ns / typical_ns - 1)
                                                    : std::nullopt);
  us(json, "compute_us", times.compute_ns);
  us(json, "exposed_communication_us", times.exposed_ns);
  us(json, "hidden_communication_us", times.hidden_ns);
  us(json, "exposed_copies_us", times.copies_ns);
  us(json, "idle_us", times.idle_ns);
  json.key("idle").begin_object();
  const IdleClassTimes sums = sums_by_class(times.idle);
  for (size_t i = 0; i < sums.size(); ++i) {
    const std::string key = short_name(static_cast<IdleClass>(i)) + "_us";
    us(json, key.c_str(), static_cast<double>(sums[i]));
  }
  json.end_object();
  json.key("collectives").integer(static_cast<int64_t>(rank.collectives.size()));
  json.key("point_to_point").integer(rank.point_to_point);
  json.key("last").integer(ranks.arrivals.last[place]);
  us(json, "waited_for_us", ranks.arrivals.wait_ns[place]);
  clock_json(json, ranks.clocks[place]);
  json.end_object();
}

void straggler_json(JsonWriter& json, const Ranks& ranks, const analysis::Straggler& straggler) {
  const RankData& rank = ranks.ranks[straggler.rank];
  const auto steps = static_cast<double>(straggler.steps);
  json.begin_object().key("file").string(rank.file).key("rank");
  if (rank.has_rank) {
    json.integer(rank.rank);
  } else {
    json.null();
  }
  json.key("last").integer(straggler.last).key("of").integer(straggler.of);
  json.key("steps").integer(straggler.steps);
  us(json, "wait_us_per_step", straggler.wait_ns / steps);
  us(json, "alone_us_per_step", straggler.alone_ns / steps);
  json.key("cause");
  if (straggler.cause) {
    json.string(key_of(*straggler.cause));
  } else {
    json.null();
  }
  optional_us(json, "cause_us_per_step",
              straggler.cause ? std::optional(straggler.cause_ns / steps) : std::nullopt);
  json.key("name");
  if (straggler.name.empty()) {
    json.null();
  } else {
    json.string(straggler.name);
  }
  json.end_object();
}

void kind_json(JsonWriter& json, const analysis::CollectiveKind& kind) {
  json.begin_object().key("kind").string(kind.kind).key("group");
  if (kind.group.name.empty()) {
    json.null();
  } else {
    json.string(kind.group.name);
  }
  json.key("group_size").integer(kind.group.size).key("count").integer(kind.count);
  optional_real(json, "bytes", kind.bytes);
  us(json, "time_us", kind.time_ns);
  optional_us(json, "skew_us", kind.skew_ns);
  optional_us(json, "wait_us", kind.wait_ns);
  optional_us(json, "transfer_us", kind.transfer_ns);
  optional_real(json, "algorithm_gb_per_s", kind.algorithm_rate);
  optional_real(json, "bus_gb_per_s", kind.bus_rate);
  json.end_object();
}

const char* key_of(analysis::CommunicationRemedy remedy) {
  switch (remedy) {
    case analysis::CommunicationRemedy::kArriveTogether:
      return "arrive together";
    case analysis::CommunicationRemedy::kOverlap:
      return "overlap";
    case analysis::CommunicationRemedy::kBucket:
      return "bucket";
    case analysis::CommunicationRemedy::kBandwidth:
      return "bandwidth";
  }
  return "";
}

void advice_json(JsonWriter& json, const Ranks& ranks, const analysis::CommunicationAdvice& one) {
  json.begin_object().key("remedy").string(key_of(one.remedy));
  if (one.remedy == analysis::CommunicationRemedy::kArriveTogether) {
    json.key("file").string(ranks.ranks[one.rank].file);
  } else {
    json.key("kind").string(one.kind).key("group").string(one.group.name);
  }
  us(json, "at_most_us_per_step", one.at_most_ns);
  json.end_object();
}

}  // namespace

void ranks_json(JsonWriter& json, const Ranks& ranks,
                const std::vector<UnreadableRank>& unreadable) {
  json.key("world_size").integer(ranks.world_size);
  const double typical_ns = median_step_ns(ranks.ranks);
  json.key("ranks").begin_array();
  for (size_t i = 0; i < ranks.ranks.size(); ++i) rank_json(json, ranks, i, typical_ns);
  json.end_array().key("unreadable").begin_array();
  for (const UnreadableRank& one : unreadable) {
    json.begin_object().key("file").string(one.file).key("message").string(one.message);
    json.end_object();
  }
  json.end_array();
  json.key("compared").integer(ranks.arrivals.compared);
  json.key("not_compared").integer(ranks.arrivals.not_compared);
  json.key("stragglers").begin_array();
  for (const auto& straggler : ranks.arrivals.stragglers) straggler_json(json, ranks, straggler);
  json.end_array().key("straggler_reason").string(key_of(ranks.arrivals.reason));
  json.key("collectives").begin_array();
  for (const analysis::CollectiveKind& kind : ranks.kinds) kind_json(json, kind);
  json.end_array().key("advice").begin_array();
  for (const auto& one : analysis::communication_advice(ranks)) advice_json(json, ranks, one);
  json.end_array();
}

}  // namespace epi::report
