// SPDX-License-Identifier: Apache-2.0
// CUPTI, loaded on first use. Programs that never record a GPU start without it. Functions keep
// CUPTI's names.
#pragma once

#include <cupti.h>

#include <array>
#include <string>

#include "epilogue/base/result.h"

namespace epi::profile {

// The activity kinds that a recording enables.
inline constexpr auto kRecordedKinds = std::to_array<CUpti_ActivityKind>({
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_RUNTIME,
    CUPTI_ACTIVITY_KIND_DRIVER,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
    CUPTI_ACTIVITY_KIND_OVERHEAD,
});

struct Cupti {
  decltype(&::cuptiActivityDisable) activity_disable = nullptr;
  decltype(&::cuptiActivityEnable) activity_enable = nullptr;
  decltype(&::cuptiActivityFlushAll) activity_flush_all = nullptr;
  decltype(&::cuptiActivityGetNextRecord) activity_get_next_record = nullptr;
  decltype(&::cuptiActivityGetNumDroppedRecords) activity_get_num_dropped_records = nullptr;
  decltype(&::cuptiActivityPopExternalCorrelationId) activity_pop_external_correlation_id = nullptr;
  decltype(&::cuptiActivityPushExternalCorrelationId) activity_push_external_correlation_id =
      nullptr;
  decltype(&::cuptiActivityRegisterCallbacks) activity_register_callbacks = nullptr;
  decltype(&::cuptiActivityRegisterTimestampCallback) activity_register_timestamp_callback =
      nullptr;
  decltype(&::cuptiGetCallbackName) get_callback_name = nullptr;
  decltype(&::cuptiGetResultString) get_result_string = nullptr;
  decltype(&::cuptiGetVersion) get_version = nullptr;
  decltype(&::cuptiSetThreadIdType) set_thread_id_type = nullptr;
  decltype(&::cuptiSubscribe) subscribe = nullptr;
  decltype(&::cuptiUnsubscribe) unsubscribe = nullptr;

  // Fails with the name of the call and CUPTI's message if `result` is an error.
  Result<void> check(const char* call, CUptiResult result) const;
};

// Loads CUPTI on the first call. Later calls return the same result.
const Result<Cupti>& cupti();

}  // namespace epi::profile
