// SPDX-License-Identifier: Apache-2.0
// Writes LLVM IR as text: --show code prints exactly what is compiled, and its hash is the key in
// the cache. Values are represented by their names ("%12"), numbers by constants.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace epi::compiler {

using IrValue = std::string;

class IrWriter {
 public:
  // Appends "  %v3 = <instruction>" and returns "%v3".
  template <typename... Ts>
  IrValue let(fmt::format_string<Ts...> format, Ts&&... values) {
    IrValue name = fmt::format("%v{}", next_++);
    text_ += fmt::format("  {} = {}\n", name, fmt::format(format, std::forward<Ts>(values)...));
    return name;
  }
  // Appends an instruction without a result, or one whose text names its result.
  template <typename... Ts>
  void line(fmt::format_string<Ts...> format, Ts&&... values) {
    text_ += fmt::format("  {}\n", fmt::format(format, std::forward<Ts>(values)...));
  }
  // Prefetches `bytes` from an address on, into a level of the cache and the larger ones.
  void prefetch(const IrValue& address, int64_t bytes, int cache_level);
  // The same for memory that will be written, into level 1.
  void prefetch_to_write(const IrValue& address, int64_t bytes);
  // Precedes a function.
  void comment(std::string_view text) { text_ += fmt::format("; {}\n", text); }
  void label(std::string_view name) { text_ += fmt::format("{}:\n", name); }
  void begin_function(std::string_view linkage, std::string_view name,
                      std::string_view parameters) {
    text_ += fmt::format("define {}void @{}({}) #0 {{\nentry:\n", linkage, name, parameters);
    next_ = 0;
  }
  void end_function() {
    text_ += "  ret void\n}\n\n";
    hoist_at_ = 0;
  }

  // Vector constants of a loop. LLVM for AArch64 would create them from integers in each iteration.
  // After `hoist_constants`, which precedes the loop, `hoisted` defines a constant there, in a way
  // that LLVM does not undo.
  void hoist_constants();
  bool hoists_constants() const { return hoist_at_ != 0; }
  IrValue hoisted(const std::string& type, const std::string& constant);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  int next_ = 0;
  size_t hoist_at_ = 0;                       // where to insert the next one, or 0
  std::map<std::string, IrValue> hoisted_{};  // by constant
};

// The bits of a float in LLVM's notation: 0x3FF0000000000000.
std::string float_bits(double value);
// The bits of a double in the same notation.
std::string double_bits(double value);

}  // namespace epi::compiler
