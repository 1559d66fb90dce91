// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/cupti.h"
#include "epilogue/base/result.h"

#include <dlfcn.h>

namespace epi::profile {
namespace {

// First the library on the loader's search path, then the path that was found at build time.
Result<void*> open_library() {
  std::string reasons;
  for (const char* file : {"libcupti.so.13", EPI_CUPTI_LIBRARY}) {
    if (void* handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL)) return handle;
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", ::dlerror());
  }
  return failure("cannot load CUPTI: {}", reasons);
}

class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <typename F>
  Symbols& find(const char* symbol, F& function) {
    function = reinterpret_cast<F>(::dlsym(library_, symbol));
    if (function == nullptr && missing_ == nullptr) missing_ = symbol;
    return *this;
  }
  const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

Result<Cupti> load() {
  const Result<void*> library = open_library();
  EPI_TRY(library);
  Cupti table;
  Symbols symbols(*library);
  symbols.find("cuptiActivityDisable", table.activity_disable)
      .find("cuptiActivityEnable", table.activity_enable)
      .find("cuptiActivityFlushAll", table.activity_flush_all)
      .find("cuptiActivityGetNextRecord", table.activity_get_next_record)
      .find("cuptiActivityGetNumDroppedRecords", table.activity_get_num_dropped_records)
      .find("cuptiActivityPopExternalCorrelationId", table.activity_pop_external_correlation_id)
      .find("cuptiActivityPushExternalCorrelationId", table.activity_push_external_correlation_id)
      .find("cuptiActivityRegisterCallbacks", table.activity_register_callbacks)
      .find("cuptiActivityRegisterTimestampCallback", table.activity_register_timestamp_callback)
      .find("cuptiGetCallbackName", table.get_callback_name)
      .find("cuptiGetResultString", table.get_result_string)
      .find("cuptiGetVersion", table.get_version)
      .find("cuptiSetThreadIdType", table.set_thread_id_type)
      .find("cuptiSubscribe", table.subscribe)
      .find("cuptiUnsubscribe", table.unsubscribe);
  if (symbols.missing() != nullptr) return failure("CUPTI has no function {}", symbols.missing());
  return table;
}

}  // namespace

Result<void> Cupti::check(const char* call, CUptiResult result) const {
  if (result == CUPTI_SUCCESS) return {};
  const char* text = nullptr;
  get_result_string(result, &text);
  return failure("{}: {}", call, text != nullptr ? text : fmt::format("error {}", int{result}));
}

const Result<Cupti>& cupti() {
  static const Result<Cupti> loaded = load();
  return loaded;
}

}  // namespace epi::profile
