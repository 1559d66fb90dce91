// SPDX-License-Identifier: Apache-2.0
// Extracts values from complete JSON text, such as an event's arguments, without building a
// document: values are returned as ranges of the text. Text that is not JSON gives no values and
// never crashes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::trace {

// The value of `key` in an object, as JSON text. Strings keep their quotes.
std::optional<std::string_view> find_value(std::string_view object, std::string_view key);

// The members of an object in order. Keys are without quotes.
std::vector<std::pair<std::string_view, std::string_view>> object_members(std::string_view object);

// The items of an array, as JSON text: "[[2, 3], []]" gives "[2, 3]" and "[]".
std::vector<std::string_view> array_items(std::string_view array);

// The unescaped content of a string token, or an empty string if the token is not a string.
std::string string_value(std::string_view token);

// Whether the trace has kernels that Epilogue ran on the CPU, which belong to a process named "CPU
// kernels".
bool has_cpu_kernels(const Trace& trace);

// The property that names the profiler that wrote the trace: "epilogue" for Epilogue's profiler.
inline constexpr std::string_view kProducer = "producer";
// Whether Epilogue's profiler wrote the trace. Its first versions did not set kProducer: their
// traces are recognized by their CPU kernels.
bool is_epilogue_trace(const Trace& trace);

}  // namespace epi::trace
