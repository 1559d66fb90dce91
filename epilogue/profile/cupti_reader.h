// SPDX-License-Identifier: Apache-2.0
// Converts CUPTI's buffers to plain records.
#pragma once

#include <map>
#include <string>

#include "epilogue/profile/cupti.h"
#include "epilogue/profile/gpu_records.h"

namespace epi::profile {

// The external correlation kind that marks our launches.
inline constexpr auto kLaunchCorrelationKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

class CuptiReader {
 public:
  CuptiReader(const Cupti& cupti, GpuRecords& records) : cupti_(cupti), records_(records) {}

  // Adds the contents of a CUPTI buffer to the records.
  void read(uint8_t* buffer, size_t size_bytes);

 private:
  void add(const CUpti_Activity* record);
  void add_call(const CUpti_ActivityAPI& api);
  void add_kernel(const CUpti_ActivityKernel10& kernel);
  void add_memcpy(const CUpti_ActivityMemcpy6& memcpy);
  void add_memset(const CUpti_ActivityMemset4& memset);
  void add_launch(const CUpti_ActivityExternalCorrelation& pair);
  void add_overhead(const CUpti_ActivityOverhead3& overhead);
  void add_work(const GpuWork& work);

  trace::NameId call_name(bool driver, uint32_t cbid);
  trace::NameId kernel_name_of(const char* name);

  const Cupti& cupti_;
  GpuRecords& records_;
  std::map<std::pair<bool, uint32_t>, trace::NameId> call_names_;
  std::map<std::string, trace::NameId, std::less<>> kernel_names_;  // by CUPTI's name
};

}  // namespace epi::profile
