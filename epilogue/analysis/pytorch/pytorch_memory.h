// SPDX-License-Identifier: Apache-2.0
// Allocations of a trace that was recorded with profile_memory, as PyTorch's table counts them: all
// that fall into an event's time, whichever thread made them.
#pragma once

#include <cstdint>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct MemoryUse {
  int64_t cpu_bytes = 0;  // allocated less freed
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
  // In the time of a host event; remembers that they belong to one.
  MemoryUse during(int64_t begin_ns, int64_t end_ns);

  struct Record {
    int64_t ns = 0;
    trace::EventId id = trace::kNoEvent;
    MemoryUse use{};
    int64_t covered = 0;  // of events that begin here to cover it, less those that end
  };
  // Those that fall into no event that was asked for.
  std::vector<Record> outside() const;

 private:
  std::vector<Record> records_;   // by time
  std::vector<MemoryUse> until_;  // of all before one
};

}  // namespace epi::analysis
