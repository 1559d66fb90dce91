// SPDX-License-Identifier: Apache-2.0
#include "epilogue/ops/custom_op.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <memory>
#include <mutex>

namespace epi {
namespace {

struct Entry {
  CustomOp op;
  OpInfo info;
};

// Entries are added, never removed, so that readers need no lock.
struct Registry {
  std::mutex adding;
  std::atomic<size_t> count = 0;
  std::array<std::unique_ptr<const Entry>, detail::kMaxCustomOps> entries;
};

Registry& registry() {
  static auto* const registry = new Registry;  // outlives all threads
  return *registry;
}

const Entry& entry_of(Op op) {
  const size_t index = static_cast<size_t>(op) - kOpCount;
  EPI_CHECK(index < registry().count.load(std::memory_order_acquire));
  return *registry().entries[index];
}

Op add(CustomOp op, bool is_name_unique) {
  Registry& all = registry();
  const std::lock_guard lock(all.adding);
  const size_t count = all.count;
  for (size_t i = 0; is_name_unique && i < count; ++i) {
    if (all.entries[i]->op.name == op.name) {
      fail("register_op", "there is already an operator {}", op.name);
    }
  }
  if (count == detail::kMaxCustomOps) {
    fail("register_op", "there are already {} operators besides the built-in ones", count);
  }
  auto entry = std::make_unique<Entry>(std::move(op), OpInfo{});
  const auto id = static_cast<Op>(kOpCount + count);
  entry->info = {id, entry->op.name, OpKind::kCompute, nullptr};
  all.entries[count] = std::move(entry);
  all.count.store(count + 1, std::memory_order_release);
  return id;
}

// Two words of letters, digits and underscores.
bool has_form(std::string_view name) {
  const size_t colons = name.find("::");
  const auto is_word = [](std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
      return c == '_' || std::isalnum(c) != 0;
    });
  };
  return colons != std::string_view::npos && is_word(name.substr(0, colons)) &&
         is_word(name.substr(colons + 2));
}

}  // namespace

Op register_op(CustomOp op) {
  if (!has_form(op.name)) {
    fail("register_op", "the name \"{}\" is not of the form namespace::name", op.name);
  }
  if (op.name.starts_with("aten::") || op.name.starts_with("epilogue::")) {
    fail("register_op", "{}: the namespace is that of built-in operators", op.name);
  }
  if (op.kernels.empty() && !op.definition) {
    fail("register_op", "{} has neither a kernel nor a definition", op.name);
  }
  if (!op.kernels.empty() && !op.result) {
    fail("register_op", "{} has kernels, but no function for its result", op.name);
  }
  for (const auto& [device, kernel] : op.kernels) {
    if (!kernel) fail("register_op", "{} has an empty kernel", op.name);
  }
  return add(std::move(op), true);
}

namespace detail {

Op add_op(CustomOp op) { return add(std::move(op), false); }

const CustomOp* find_custom_op(Op op) {
  return static_cast<int>(op) < kOpCount ? nullptr : &entry_of(op).op;
}

const OpInfo& custom_op_info(Op op) { return entry_of(op).info; }

size_t count_ops() { return kOpCount + registry().count.load(std::memory_order_acquire); }

}  // namespace detail
}  // namespace epi
