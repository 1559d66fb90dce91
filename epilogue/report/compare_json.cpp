// SPDX-License-Identifier: Apache-2.0
// A comparison of two traces as JSON.
#include "epilogue/report/compare_report.h"

namespace epi::report {
namespace {

using analysis::Comparison;
using analysis::GroupComparison;
using analysis::HostChange;
using analysis::NamedCount;
using analysis::Side;

void side_json(JsonWriter& json, const char* key, const Side& side) {
  const auto& m = side.median;
  json.key(key).begin_object().key("instances").integer(side.instances);
  json.key("cpu_us").fixed(m.cpu_ns / 1000, 3).key("gpu_us").fixed(m.device_ns / 1000, 3);
  json.key("kernels").real(m.kernels).key("memcpy").real(m.memcpys).key("memset").real(m.memsets);
  json.key("launches").real(m.launches).key("busy").fixed(m.busy, 4);
  json.key("busy_us").fixed(m.busy_ns / 1000, 3);
  json.key("idle_us").fixed(m.idle_ns / 1000, 3).key("bytes");
  side.bytes ? json.real(side.bytes->bytes) : json.null();
  json.key("bytes_at_least");
  side.bytes ? json.boolean(side.bytes->at_least) : json.null();
  json.end_object();
}

void counts_json(JsonWriter& json, const char* key, const std::vector<NamedCount>& list) {
  json.key(key).begin_array();
  for (const NamedCount& entry : list) {
    json.begin_object().key("name").string(entry.name).key("count").integer(entry.count);
    json.end_object();
  }
  json.end_array();
}

void changed_json(JsonWriter& json, const GroupComparison& group) {
  json.key("changed").begin_array();
  for (const auto& change : group.changed) {
    json.begin_object().key("op").string(change.op).key("from").string(change.from);
    json.key("to").string(change.to).key("differs").begin_array();
    for (const std::string& field : change.differs) json.string(field);
    json.end_array().key("count").integer(change.count).end_object();
  }
  json.end_array();
}

void fusions_json(JsonWriter& json, const char* key, const char* kernel_key,
                  const std::vector<analysis::Fusion>& fusions) {
  json.key(key).begin_array();
  for (const auto& fusion : fusions) {
    json.begin_object().key("ops").begin_array();
    for (const std::string& op : fusion.ops) json.string(op);
    json.end_array().key(kernel_key).string(fusion.kernel);
    json.key("count").integer(fusion.count).key("replaced").integer(fusion.replaced).end_object();
  }
  json.end_array();
}

void host_json(JsonWriter& json, const GroupComparison& group) {
  const auto list = [&](const char* key, const std::vector<HostChange>& changes) {
    json.key(key).begin_array();
    for (const HostChange& change : changes) {
      json.begin_object().key("name").string(change.name).key("a").integer(change.a);
      json.key("b").integer(change.b).end_object();
    }
    json.end_array();
  };
  json.key("cpu").begin_object();
  list("same", group.host_same);
  list("changed", group.host_changed);
  list("added", group.host_added);
  list("gone", group.host_gone);
  json.end_object();
}

}  // namespace

void compare_json(JsonWriter& json, const Comparison& comparison, size_t max_entries) {
  json.key("same_gpu_work").boolean(comparison.same_gpu_work());
  json.key("verdict").string(verdict_text(comparison));
  const auto names = [&](const char* key, const std::vector<std::string>& list) {
    json.key(key).begin_array();
    for (size_t i = 0; i < std::min(list.size(), max_entries); ++i) json.string(list[i]);
    json.end_array();
  };
  names("only_a", comparison.only_a);
  names("only_b", comparison.only_b);
  json.key("groups").begin_array();
  for (size_t i = 0; i < std::min(comparison.groups.size(), max_entries); ++i) {
    const GroupComparison& group = comparison.groups[i];
    json.begin_object().key("name").string(group.name);
    counts_json(json, "same", group.same);
    counts_json(json, "resized", group.resized);
    changed_json(json, group);
    counts_json(json, "added", group.added);
    counts_json(json, "gone", group.gone);
    fusions_json(json, "fused", "into", group.fused);
    fusions_json(json, "unfused", "from", group.unfused);
    host_json(json, group);
    side_json(json, "a", group.a);
    side_json(json, "b", group.b);
    json.end_object();
  }
  json.end_array();
}

}  // namespace epi::report
