// SPDX-License-Identifier: Apache-2.0
// Owners of what the C interface returns.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "epilogue/c/arrow.h"
#include "epilogue/trace.h"

namespace epi::c {

struct CloseTrace {
  void operator()(epi_trace* trace) const { epi_trace_close(&trace); }
};
using TraceHandle = std::unique_ptr<epi_trace, CloseTrace>;

// A text that the library allocates: pass `out()`, read with `str()`.
class Text {
 public:
  Text() = default;
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text() { epi_free(text_); }
  char** out() { return &text_; }
  bool is_null() const { return text_ == nullptr; }
  std::string str() const { return text_ == nullptr ? "" : text_; }

 private:
  char* text_ = nullptr;
};

inline std::string data_path(const std::string& name) {
  return std::string(EPI_TEST_DATA) + "/" + name;
}

inline TraceHandle open_path(const std::string& path) {
  const char* paths[] = {path.c_str()};
  epi_trace* trace = nullptr;
  Text message;
  EXPECT_EQ(epi_trace_open(paths, 1, nullptr, nullptr, nullptr, &trace, message.out()), EPI_OK)
      << message.str();
  return TraceHandle(trace);
}

inline TraceHandle open_bytes(const std::string& bytes) {
  epi_trace* trace = nullptr;
  Text message;
  EXPECT_EQ(epi_trace_open_memory(bytes.data(), bytes.size(), "bytes", nullptr, nullptr, nullptr,
                                  &trace, message.out()),
            EPI_OK)
      << message.str();
  return TraceHandle(trace);
}

// The text of a verb on one trace. Fails the test unless the status is as expected.
inline std::string run(const TraceHandle& trace, const char* verb, const char* options = nullptr,
                       epi_format format = EPI_TEXT, epi_status expected = EPI_OK) {
  epi_trace* traces[] = {trace.get()};
  Text text;
  Text message;
  EXPECT_EQ(epi_run(traces, 1, verb, options, format, text.out(), message.out()), expected)
      << message.str();
  return expected == EPI_INVALID ? message.str() : text.str();
}

}  // namespace epi::c
