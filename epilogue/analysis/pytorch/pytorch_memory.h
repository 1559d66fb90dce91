// SPDX-License-Identifier: Apache-2.0
// Allocations of a trace recorded with profile_memory, counted as in PyTorch's table: all
// allocations during an event, on any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct MemoryUse {
  int64_t cpu_bytes = 0;  // allocated minus freed
  int64_t device_bytes = 0;

  MemoryUse& operator+=(const MemoryUse& other) {
    cpu_bytes += other.cpu_bytes;
    device_bytes += other.device_bytes;
    return *this;
  }
  MemoryUse operator-(const MemoryUse& other) const {
    return {cpu_bytes - other.cpu_bytes, device_bytes - other.device_bytes};
  }
};

class MemoryRecords {
 public:
  explicit MemoryRecords(const trace::Trace& trace);

  bool empty() const { return records_.empty(); }
  // Sum over a host event's time. Marks these records as covered.
  MemoryUse during(int64_t begin_ns, int64_t end_ns);

  struct Record {
    int64_t ns = 0;
    trace::EventId id = trace::kNoEvent;
    MemoryUse use{};
    int64_t covered = 0;  // covering ranges that start here minus those that end
  };
  // The records that no call of `during` covered.
  std::vector<Record> outside() const;

 private:
  std::vector<Record> records_;         // by time
  std::vector<MemoryUse> prefix_sums_;  // prefix sums over `records_`
};

}  // namespace epi::analysis
