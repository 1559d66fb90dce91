// SPDX-License-Identifier: Apache-2.0
// What every function of the C interface does: no exception crosses it, and a failure becomes a
// status and a message.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "epilogue/base/error.h"
#include "epilogue/trace.h"

namespace epi::c {

// Thrown after the progress callback has cancelled a call.
struct Cancelled {};

// A copy that the caller frees with `epi_free`. Throws std::bad_alloc.
char* new_text(std::string_view text);
// The same, but null if there is no memory, or if `to` is null.
void set_message(char** to, std::string_view text) noexcept;

// Calls `body`, which returns a status.
template <typename Body>
epi_status guarded(char** message, const Body& body) noexcept {
  if (message != nullptr) *message = nullptr;
  try {
    return body();
  } catch (const Cancelled&) {
    set_message(message, "cancelled");
    return EPI_CANCELLED;
  } catch (const BugError& error) {
    set_message(message, error.what());
    return EPI_BUG;
  } catch (const Error& error) {
    set_message(message, error.what());
    return EPI_INVALID;
  } catch (const std::bad_alloc&) {
    set_message(message, "out of memory");
    return EPI_INVALID;
  } catch (const std::system_error& error) {  // of files and threads
    set_message(message, error.what());
    return EPI_INVALID;
  } catch (const std::exception& error) {
    set_message(message, error.what());
    return EPI_BUG;
  } catch (...) {
    set_message(message, "unknown exception");
    return EPI_BUG;
  }
}

}  // namespace epi::c
