// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/tree_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "epilogue/report/steps_report.h"
#include "epilogue/report/units.h"

namespace epi::report {
namespace {

using trace::EventId;
using trace::kNoEvent;

struct Node {
  EventId id = kNoEvent;
  size_t depth = 0;
  int64_t device_ns = 0;  // of what it and those below it launched
  bool device = false;
  bool launched = false;  // it or one below it started something
  std::vector<size_t> children{};
};

// The nodes in the order in which they are shown: parents before their children.
class Forest {
 public:
  Forest(const trace::Trace& trace, const trace::Links& links, const TreeOptions& options)
      : trace_(trace), links_(links), options_(options) {
    add_host_events();
    add_device_work();
  }

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<size_t>& roots() const { return roots_; }

 private:
  void add_host_events() {
    for (const EventId id : links_.tree.order) {
      if (trace_.ts_ns[id] < options_.begin_ns || trace_.ts_ns[id] >= options_.end_ns) continue;
      const auto parent = places_.find(links_.tree.parent[id]);
      if (parent == places_.end()) {
        if (options_.root == kNoEvent || options_.root == id) add(id, kNowhere, false);
      } else {
        add(id, parent->second, false);
      }
    }
  }

  // Under its launch where it has one, under its operator otherwise.
  void add_device_work() {
    for (EventId id = 0; id < trace_.size(); ++id) {
      if (!trace_.is_span(id) || !trace::is_device_work(trace_.category[id])) continue;
      const EventId starter = links_.launch[id] != kNoEvent ? links_.launch[id] : links_.op[id];
      const auto place = places_.find(starter);
      if (place == places_.end()) continue;
      add(id, place->second, true);
      for (EventId above = starter; above != kNoEvent; above = links_.tree.parent[above]) {
        const auto node = places_.find(above);
        if (node == places_.end()) break;
        nodes_[node->second].device_ns += trace_.dur_ns[id];
        nodes_[node->second].launched = true;
      }
    }
  }

  void add(EventId id, size_t parent, bool device) {
    const size_t place = nodes_.size();
    nodes_.push_back({.id = id, .device = device});
    if (parent == kNowhere) {
      roots_.push_back(place);
    } else {
      nodes_[place].depth = nodes_[parent].depth + 1;
      nodes_[parent].children.push_back(place);
    }
    if (device) {
      nodes_[place].device_ns = trace_.dur_ns[id];
    } else {
      places_[id] = place;
    }
  }

  static constexpr size_t kNowhere = SIZE_MAX;
  const trace::Trace& trace_;
  const trace::Links& links_;
  const TreeOptions& options_;
  std::vector<Node> nodes_;
  std::vector<size_t> roots_;
  std::unordered_map<EventId, size_t> places_;
};

// Calls that started nothing are left out of the text, but for those that wait.
bool is_shown(const trace::Trace& trace, const Node& node) {
  if (node.device || !trace::is_call(trace.category[node.id])) return true;
  return !node.children.empty() ||
         trace.name_of(node.id).find("Synchronize") != std::string_view::npos;
}

constexpr size_t kTimesWidth = 36;  // three columns of twelve

class TextWriter {
 public:
  TextWriter(const trace::Trace& trace, const trace::Links& links, const Forest& forest,
             const TreeOptions& options)
      : trace_(trace), links_(links), forest_(forest), options_(options) {}

  std::string run() {
    name_width_ = std::max<size_t>(24, options_.width - std::min(options_.width, kTimesWidth));
    out_ =
        fmt::format("{:<{}}{:>12}{:>12}{:>12}\n", "", name_width_, "CPU total", "CPU self", "GPU");
    trace::LaneId lane = UINT32_MAX;
    for (const size_t root : forest_.roots()) {
      const EventId id = forest_.nodes()[root].id;
      if (trace_.lane[id] != lane && forest_.roots().size() > 1) {
        const trace::Lane& where = trace_.lanes[trace_.lane[id]];
        out_ += fmt::format("thread {}\n",
                            where.tid_text.empty() ? fmt::format("{}", where.tid) : where.tid_text);
      }
      lane = trace_.lane[id];
      write(root);
    }
    return std::move(out_);
  }

 private:
  void write(size_t root) {
    std::vector<size_t> waiting = {root};
    while (!waiting.empty()) {
      const Node& node = forest_.nodes()[waiting.back()];
      waiting.pop_back();
      if (!is_shown(trace_, node)) continue;
      write_line(node);
      if (node.depth >= options_.depth) continue;
      waiting.insert(waiting.end(), node.children.rbegin(), node.children.rend());
    }
  }

  void write_line(const Node& node) {
    const std::string indent(2 * node.depth, ' ');
    const std::string mark = node.device ? "> " : "";
    const std::string name =
        shortened(indent + mark + std::string(trace_.name_of(node.id)), name_width_ - 1);
    const auto time = [](int64_t ns) { return time_text(static_cast<double>(ns)); };
    const std::string cpu = node.device ? "" : time(trace_.dur_ns[node.id]);
    const std::string self = node.device ? "" : time(links_.tree.self_ns[node.id]);
    const std::string gpu = node.device || node.launched ? time(node.device_ns) : "-";
    out_ += fmt::format("{:<{}}{:>12}{:>12}{:>12}\n", name, name_width_, cpu, self, gpu);
  }

  const trace::Trace& trace_;
  const trace::Links& links_;
  const Forest& forest_;
  const TreeOptions& options_;
  size_t name_width_ = 0;
  std::string out_;
};

void node_json(JsonWriter& json, const trace::Trace& trace, const trace::Links& links,
               const Forest& forest, size_t place, size_t depth_left) {
  const Node& node = forest.nodes()[place];
  const auto us = [](int64_t ns) { return static_cast<double>(ns) / 1000; };
  json.begin_object().key("name").string(trace.name_of(node.id));
  json.key("category").string(trace.category_text(node.id));
  json.key("cpu_us");
  node.device ? json.null() : json.fixed(us(trace.dur_ns[node.id]), 3);
  json.key("self_us");
  node.device ? json.null() : json.fixed(us(links.tree.self_ns[node.id]), 3);
  json.key("gpu_us").fixed(us(node.device_ns), 3).key("children").begin_array();
  if (depth_left > 0) {
    for (const size_t child : node.children) {
      node_json(json, trace, links, forest, child, depth_left - 1);
    }
  }
  json.end_array().end_object();
}

}  // namespace

std::string tree_text(const trace::Trace& trace, const trace::Links& links,
                      const TreeOptions& options) {
  const Forest forest(trace, links, options);
  return TextWriter(trace, links, forest, options).run();
}

void tree_json(JsonWriter& json, const trace::Trace& trace, const trace::Links& links,
               const TreeOptions& options) {
  const Forest forest(trace, links, options);
  json.key("tree").begin_array();
  // Deeper than this no program nests; a file might, and would overflow the stack.
  constexpr size_t kMaxDepth = 1000;
  for (const size_t root : forest.roots()) {
    node_json(json, trace, links, forest, root, std::min(options.depth, kMaxDepth));
  }
  json.end_array();
}

}  // namespace epi::report
