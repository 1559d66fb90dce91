// SPDX-License-Identifier: Apache-2.0
// Which files a verb may write: never one of its inputs, and under a name that the user did not
// type, only over a file that the tool wrote itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace epi::verbs {

// Throws `Error` if `output`, the value of `flag`, is one of the input files.
void refuse_input_as_output(const char* verb, const char* flag, const std::string& output,
                            const std::vector<std::string>& inputs);

// Throws `Error` if an input file has changed since it was read. Called before results are written
// or printed as final.
void refuse_changed_inputs();

// What the tool writes under derived names.
enum class Content : uint8_t { kTrace, kTable, kPage, kManPage, kSchema };

// Throws `Error` if `path` exists and does not look like `content`. Call it before long work
// starts.
void refuse_foreign_file(const char* verb, const std::string& path, Content content, bool force);

}  // namespace epi::verbs
