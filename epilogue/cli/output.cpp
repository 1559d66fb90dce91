// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "epilogue/base/visible_text.h"

namespace epi::cli {
namespace {

void write_visible(std::FILE* stream, std::string_view text) {
  const std::string shown = visible_text(text, LineBreaks::kKeep);
  std::fwrite(shown.data(), 1, shown.size(), stream);
}

bool is_closed(int fd) { return ::fcntl(fd, F_GETFD) < 0 && errno == EBADF; }

}  // namespace

void write_output(std::string_view text) { write_visible(stdout, text); }

void write_error(std::string_view text) { write_visible(stderr, text); }

void open_closed_streams() {
  // `open` returns the lowest free descriptor, so the order matters.
  const int flags[] = {O_RDONLY, O_RDONLY, O_WRONLY};
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (is_closed(fd) && ::open("/dev/null", flags[fd]) != fd) std::_Exit(2);
  }
}

bool finish_output() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

}  // namespace epi::cli
