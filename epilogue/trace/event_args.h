// SPDX-License-Identifier: Apache-2.0
// Looks into JSON text that is known to be whole, such as an event's arguments, without building
// anything: values come back as the ranges of text that they are. Text that is not JSON gives
// nothing, never a crash.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::trace {

// The value under `key` of an object, as text; strings keep their quotes.
std::optional<std::string_view> find_value(std::string_view object, std::string_view key);

// The members of an object in order, keys without their quotes.
std::vector<std::pair<std::string_view, std::string_view>> object_members(std::string_view object);

// The items of an array, as text: "[[2, 3], []]" gives "[2, 3]" and "[]".
std::vector<std::string_view> array_items(std::string_view array);

// The text of a string token, without its quotes and escapes; empty where the token is no string.
std::string string_value(std::string_view token);

// Whether the trace's kernels are Epilogue's own on the CPU, which have a process of that name.
bool has_cpu_kernels(const Trace& trace);

// The property that says who wrote the trace: "epilogue" of Epilogue's profiler.
inline constexpr std::string_view kProducer = "producer";
// Whether Epilogue's profiler wrote it; traces of its first versions tell by their CPU kernels.
bool is_own_trace(const Trace& trace);

}  // namespace epi::trace
