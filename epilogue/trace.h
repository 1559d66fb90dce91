// SPDX-License-Identifier: Apache-2.0
/* The C interface of the trace reader, for other languages. C99 and C++.
 *
 *   const char* paths[] = {"trace.json.gz"};
 *   epi_trace* trace = NULL;
 *   char* text = NULL;
 *   char* message = NULL;
 *   if (epi_trace_open(paths, 1, NULL, NULL, NULL, &trace, &message) == EPI_OK &&
 *       epi_run(&trace, 1, "summary", NULL, EPI_TEXT, &text, &message) == EPI_OK) {
 *     puts(text);
 *   } else {
 *     fprintf(stderr, "%s\n", message);
 *   }
 *   epi_free(text);
 *   epi_free(message);
 *   epi_trace_close(&trace);
 *
 * Threads: several threads may use one trace at the same time. A trace may be closed while a call
 * with it reports progress on another thread: the call finishes, and the memory is freed after it.
 * No call may start while or after the trace is closed. The library has no state of its own besides
 * its threads, which keep it loaded, and a handler of SIGBUS, which survives files that are
 * truncated while they are read.
 *
 * Results: functions return a status and never throw. A pointer to a result is set to NULL first.
 * `message` may be NULL. After a failure it receives one line with the reason. After a success it
 * receives notes on the input, one per line, or NULL. Free strings with `epi_free`. */
#ifndef EPILOGUE_TRACE_H
#define EPILOGUE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define EPI_API __attribute__((visibility("default")))
#else
#define EPI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when a program that was compiled with an older header no longer works. */
#define EPI_TRACE_ABI 1
EPI_API int epi_trace_abi(void);
/* "0.2.0" */
EPI_API const char* epi_trace_version(void);

/* The first four are the exit codes of the command `epilogue`. */
typedef enum epi_status {
  EPI_OK = 0,
  EPI_CHECK_FAILED = 1, /* a rule of "expect" is broken, or kernels differ; the text is complete */
  EPI_INVALID = 2,      /* usage, input, memory or disk */
  EPI_BUG = 3,          /* a bug in Epilogue */
  EPI_CANCELLED = 4     /* by the progress callback */
} epi_status;

/* Called on the calling thread, about 20 times per second. `fraction` is from 0 to 1. A value other
 * than 0 cancels the call. */
typedef int (*epi_progress)(void* user, double fraction);

/* One trace, or the ranks of a run. */
typedef struct epi_trace epi_trace;

/* Opens files and folders of ranks. `options` is NULL or a JSON object:
 *   {"step_pattern": "^train_step", "max_unpacked": "2G"}
 * with the meaning of the command's flags of the same names. `progress` may be NULL. */
EPI_API epi_status epi_trace_open(const char* const* paths, size_t count, const char* options,
                                  epi_progress progress, void* user, epi_trace** trace,
                                  char** message);
/* Opens a trace in memory, plain or compressed. The bytes are copied. Messages and results call it
 * `name`. */
EPI_API epi_status epi_trace_open_memory(const void* data, size_t size, const char* name,
                                         const char* options, epi_progress progress, void* user,
                                         epi_trace** trace, char** message);
/* Sets the pointer to NULL. Does nothing if it is NULL already. */
EPI_API void epi_trace_close(epi_trace** trace);

/* The number of files. */
EPI_API size_t epi_trace_count(const epi_trace* trace);
/* {"schema": 1, "files": [{"file", "rank", "events", "notes": []}], "notes": []}; `rank` is null if
 * the file has none. The last notes are on files of a folder that are not traces. */
EPI_API epi_status epi_trace_info(const epi_trace* trace, char** json, char** message);
/* Writes one file of the trace, compressed if the path ends in .gz or .zst. */
EPI_API epi_status epi_trace_save(const epi_trace* trace, size_t index, const char* path,
                                  char** message);

typedef enum epi_format { EPI_TEXT = 0, EPI_JSON = 1, EPI_MARKDOWN = 2, EPI_CSV = 3 } epi_format;

/* Runs a verb of the command: "summary", "table", "steps", "tree", "explain", "compare", "expect",
 * "breakdown", "advise", "query" or "report". The result is what the command prints.
 *
 * `options` is NULL or a JSON object with the command's options: {"under": "mlp_fwd", "all": true}
 * stands for --under mlp_fwd --all. A list repeats an option. "width" is the number of columns of
 * the text (80). The arguments that are not traces have names as well: "rules" (a list) of expect,
 * "kernels" (a list of names) of explain, "sql" of query. The file of --rules is "rules_file".
 *
 * `compare` takes two traces, `report` one or two, `explain` none or more. `advise` with two
 * compares its estimate for the first with the second (--against). The others take one or more. */
EPI_API epi_status epi_run(epi_trace* const* traces, size_t count, const char* verb,
                           const char* options, epi_format format, char** text, char** message);

/* Columns as an Arrow C stream (https://arrow.apache.org/docs/format/CStreamInterface.html): one
 * batch, strings dictionary-encoded. The caller provides the struct and releases the stream, which
 * may outlive the trace. If the trace has several files, the first columns are `file` (an index)
 * and `rank`. */
struct ArrowArrayStream;

/* A table of "query": "events", "ops", "kernels", "launches", "steps", "annotations", "args",
 * "frames" or "collectives". */
EPI_API epi_status epi_table(const epi_trace* trace, const char* table,
                             struct ArrowArrayStream* stream, char** message);
/* The result of an SQL statement. `options` is NULL or {"max_rows": 1000000, "timeout": 10}. If a
 * limit cuts the result, `message` receives a note. */
EPI_API epi_status epi_query(const epi_trace* trace, const char* sql, const char* options,
                             epi_progress progress, void* user, struct ArrowArrayStream* stream,
                             char** message);

EPI_API void epi_free(char* text);

#ifdef __cplusplus
}
#endif

#endif
