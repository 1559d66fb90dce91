// SPDX-License-Identifier: Apache-2.0
/* The header and the example in it are C99. */
#include "epilogue/trace.h"

#include <stddef.h>

epi_status first_screen(const char* path, char** text, char** message);

epi_status first_screen(const char* path, char** text, char** message) {
  const char* paths[] = {path};
  epi_trace* trace = NULL;
  epi_status status = epi_trace_open(paths, 1, NULL, NULL, NULL, &trace, message);
  if (status == EPI_OK) status = epi_run(&trace, 1, "summary", NULL, EPI_TEXT, text, message);
  epi_trace_close(&trace);
  return status;
}
