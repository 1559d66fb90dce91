// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD that makes one call of a program fail: the n-th allocation, or the n-th
// call of a set of I/O functions. Calls count from the start of main. tests/faults/run_faults runs
// commands with it.
//
//   EPI_FAULT_CALLS   the functions that count, separated by commas: "alloc", or names such as
//                     "read,write"
//   EPI_FAULT_AT      which of these calls fails; 0 only counts
//   EPI_FAULT_KIND    an error ("EIO", "ENOSPC", "EINTR", "ENOMEM", "EAGAIN"), or "short": transfer
//                     one byte only
//   EPI_FAULT_KEEP    if set, every later call fails as well
//   EPI_FAULT_AFTER   if set, calls count once a file whose path contains this word is opened
//   EPI_FAULT_FROM    if set, count only calls from the program and the libraries whose path
//                     contains one of these words, separated by commas
//   EPI_FAULT_REPORT  a file that receives the function and the call stack of the failed call, or
//                     the number of calls, and at exit "descriptors N": how many more file
//                     descriptors are open than at the start
//   EPI_FAULT_LEAK    if set, leak memory and a file descriptor, to test that this is found
//
// A leak checker such as liblsan.so can be preloaded after this library. Compile with -O2, so that
// it sees the callers of the functions below, and with -fexceptions.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

enum { kMaxRanges = 64, kMaxFrames = 48, kShort = -1 };

struct Range {
  uintptr_t start;
  uintptr_t end;
};

static struct {
  char calls[512];  // ",read,write,"
  const char* report;
  const char* after;
  long at;
  int error;  // an errno value, or kShort
  bool keep;
  bool any_caller;
  struct Range callers[kMaxRanges];
  int caller_count;
} settings;

static atomic_bool has_settings;
static atomic_bool armed;  // calls count
static atomic_long call_count;
static int descriptors_at_start;
// Set while this library itself calls functions that count.
static __thread bool inside __attribute__((tls_model("initial-exec")));

static int error_number(const char* kind) {
  static const struct {
    const char* name;
    int number;
  } kinds[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EINTR", EINTR},
               {"ENOMEM", ENOMEM}, {"EAGAIN", EAGAIN}, {"short", kShort}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    if (strcmp(kinds[i].name, kind) == 0) return kinds[i].number;
  }
  fprintf(stderr, "faults: unknown EPI_FAULT_KIND %s\n", kind);
  _exit(99);
}

// Whether the library at `path` is one of those named in EPI_FAULT_FROM.
static bool is_named(const char* path, const char* words) {
  char copy[512];
  snprintf(copy, sizeof copy, "%s", words);
  char* rest = copy;
  for (char* word; (word = strsep(&rest, ",")) != NULL;) {
    if (*word != '\0' && strstr(path, word) != NULL) return true;
  }
  return false;
}

static int add_ranges(struct dl_phdr_info* info, size_t size, void* words) {
  (void)size;
  const bool is_program = info->dlpi_name == NULL || info->dlpi_name[0] == '\0';
  if (!is_program && !is_named(info->dlpi_name, words)) return 0;
  for (int i = 0; i < info->dlpi_phnum && settings.caller_count < kMaxRanges; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    const uintptr_t start = info->dlpi_addr + part->p_vaddr;
    settings.callers[settings.caller_count++] = (struct Range){start, start + part->p_memsz};
  }
  return 0;
}

// Direct system calls: the wrappers are replaced by this library.
static int open_descriptors(void) {
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
  if (fd < 0) return 0;
  int count = -1;  // without `fd` itself
  char entries[4096] __attribute__((aligned(8)));
  for (long size; (size = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0;) {
    for (long at = 0; at < size;) {
      const struct dirent64* entry = (const struct dirent64*)(entries + at);
      if (entry->d_name[0] != '.') ++count;
      at += entry->d_reclen;
    }
  }
  syscall(SYS_close, fd);
  return count;
}

static void leak(void) {
  void* volatile memory = malloc(1000);
  memory = NULL;
  (void)memory;
  syscall(SYS_dup, 0);
}

static void read_settings(void) {
  const char* calls = getenv("EPI_FAULT_CALLS");
  if (calls == NULL) return;
  const char* at = getenv("EPI_FAULT_AT");
  const char* kind = getenv("EPI_FAULT_KIND");
  const char* from = getenv("EPI_FAULT_FROM");
  snprintf(settings.calls, sizeof settings.calls, ",%s,", calls);
  settings.report = getenv("EPI_FAULT_REPORT");
  settings.after = getenv("EPI_FAULT_AFTER");
  settings.at = at == NULL ? 0 : atol(at);
  settings.error = error_number(kind == NULL ? "EIO" : kind);
  settings.keep = getenv("EPI_FAULT_KEEP") != NULL;
  settings.any_caller = from == NULL;
  if (from != NULL) dl_iterate_phdr(add_ranges, (void*)from);
  void* frame[1];
  if (__lsan_disable != NULL) __lsan_disable();
  backtrace(frame, 1);  // the first call loads the unwinder, which stays
  if (__lsan_enable != NULL) __lsan_enable();
  descriptors_at_start = open_descriptors();
  if (getenv("EPI_FAULT_LEAK") != NULL) leak();
  atomic_store(&has_settings, true);
  atomic_store(&armed, settings.after == NULL);
}

static void note_opened(const char* path) {
  if (atomic_load(&has_settings) && settings.after != NULL &&
      strstr(path, settings.after) != NULL) {
    atomic_store(&armed, true);
  }
}

// Appends "NAME NUMBER" to the report, and the call stack if asked.
static void write_report(const char* name, long number, bool with_stack) {
  if (settings.report == NULL) return;
  const int fd =
      (int)syscall(SYS_openat, AT_FDCWD, settings.report, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (fd < 0) return;
  char line[128];
  const int length = snprintf(line, sizeof line, "%s %ld\n", name, number);
  syscall(SYS_write, fd, line, (size_t)length);
  if (with_stack) {
    void* frames[kMaxFrames];
    backtrace_symbols_fd(frames, backtrace(frames, kMaxFrames), fd);
  }
  syscall(SYS_close, fd);
}

__attribute__((destructor)) static void report_at_exit(void) {
  if (!atomic_load(&has_settings)) return;
  if (settings.at == 0) write_report("calls", atomic_load(&call_count), false);
  write_report("descriptors", open_descriptors() - descriptors_at_start, false);
}

static bool is_counted(const char* function, const void* caller) {
  char word[64];
  snprintf(word, sizeof word, ",%s,", function);
  if (strstr(settings.calls, word) == NULL) return false;
  if (settings.any_caller) return true;
  for (int i = 0; i < settings.caller_count; ++i) {
    const uintptr_t address = (uintptr_t)caller;
    if (address >= settings.callers[i].start && address < settings.callers[i].end) return true;
  }
  return false;
}

// Counts a call of `function` and returns whether it must fail.
static bool must_fail(const char* function, const void* caller) {
  if (!atomic_load_explicit(&armed, memory_order_relaxed) || inside) return false;
  inside = true;
  bool fails = false;
  if (is_counted(function, caller)) {
    const long number = atomic_fetch_add(&call_count, 1) + 1;
    fails = settings.at != 0 && (settings.keep ? number >= settings.at : number == settings.at);
    if (fails && number == settings.at) write_report(function, number, true);
  }
  inside = false;
  return fails;
}

static void* real_function(const char* name) {
  const bool was_inside = inside;
  inside = true;
  void* found = dlsym(RTLD_NEXT, name);
  inside = was_inside;
  return found;
}

#define CALLER __builtin_return_address(0)
#define REAL(name) ((__typeof__(&name))real_function(#name))

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end);

static int (*program_main)(int, char**, char**);

static int counted_main(int argc, char** argv, char** environment) {
  read_settings();
  return program_main(argc, argv, environment);
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  program_main = main;
  return REAL(__libc_start_main)(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

// Allocations.

static bool allocation_fails(const void* caller) {
  if (!must_fail("alloc", caller)) return false;
  errno = ENOMEM;
  return true;
}

// The allocator behind this library: glibc's, or that of a leak checker.
#define NEXT(name)                   \
  static __typeof__(&name) next_one; \
  if (next_one == NULL) next_one = REAL(name)

void* malloc(size_t size) {
  NEXT(malloc);
  return allocation_fails(CALLER) ? NULL : next_one(size);
}
void* calloc(size_t count, size_t size) {
  NEXT(calloc);
  return allocation_fails(CALLER) ? NULL : next_one(count, size);
}
void* realloc(void* old, size_t size) {
  NEXT(realloc);
  return allocation_fails(CALLER) ? NULL : next_one(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  NEXT(aligned_alloc);
  return allocation_fails(CALLER) ? NULL : next_one(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  NEXT(posix_memalign);
  return allocation_fails(CALLER) ? ENOMEM : next_one(result, alignment, size);
}

// `operator new` and `operator new[]`, which a leak checker replaces as well. Each counts once.

void _ZSt17__throw_bad_allocv(void) __attribute__((weak, noreturn));

#define NEW(name, parameters, allocate, ...)                                \
  void* name parameters;                                                    \
  void* name parameters {                                                   \
    NEXT(allocate);                                                         \
    void* memory = allocation_fails(CALLER) ? NULL : next_one(__VA_ARGS__); \
    if (memory == NULL) _ZSt17__throw_bad_allocv();                         \
    return memory;                                                          \
  }
NEW(_Znwm, (size_t size), malloc, size)
NEW(_Znam, (size_t size), malloc, size)
NEW(_ZnwmSt11align_val_t, (size_t size, size_t alignment), aligned_alloc, alignment, size)
NEW(_ZnamSt11align_val_t, (size_t size, size_t alignment), aligned_alloc, alignment, size)

#define NOTHROW_NEW(name)                                    \
  void* name(size_t size, const void* nothrow);              \
  void* name(size_t size, const void* nothrow) {             \
    (void)nothrow;                                           \
    NEXT(malloc);                                            \
    return allocation_fails(CALLER) ? NULL : next_one(size); \
  }
NOTHROW_NEW(_ZnwmRKSt9nothrow_t)
NOTHROW_NEW(_ZnamRKSt9nothrow_t)

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  if (must_fail("pthread_create", CALLER)) return EAGAIN;
  return REAL(pthread_create)(thread, attributes, start, argument);
}

// I/O. `short` only changes the functions that transfer bytes; the others then run as usual.

static bool io_fails(const char* function, const void* caller) {
  if (settings.error == kShort || !must_fail(function, caller)) return false;
  errno = settings.error;
  return true;
}

// Returns the number of bytes to transfer, or -1 with errno set.
static ssize_t bytes_to_transfer(const char* function, size_t size, const void* caller) {
  if (!must_fail(function, caller)) return (ssize_t)size;
  if (settings.error == kShort) return size > 1 ? 1 : (ssize_t)size;
  errno = settings.error;
  return -1;
}

#define OPEN(name)                                                     \
  int name(const char* path, int flags, ...) {                         \
    note_opened(path);                                                 \
    if (io_fails("open", CALLER)) return -1;                           \
    va_list rest;                                                      \
    va_start(rest, flags);                                             \
    const mode_t mode = va_arg(rest, mode_t);                          \
    va_end(rest);                                                      \
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, (int)mode); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                 \
  int name(int folder, const char* path, int flags, ...) {           \
    note_opened(path);                                               \
    if (io_fails("open", CALLER)) return -1;                         \
    va_list rest;                                                    \
    va_start(rest, flags);                                           \
    const mode_t mode = va_arg(rest, mode_t);                        \
    va_end(rest);                                                    \
    return (int)syscall(SYS_openat, folder, path, flags, (int)mode); \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int fd, void* bytes, size_t size) {
  const ssize_t part = bytes_to_transfer("read", size, CALLER);
  return part < 0 ? -1 : syscall(SYS_read, fd, bytes, (size_t)part);
}
ssize_t write(int fd, const void* bytes, size_t size) {
  const ssize_t part = bytes_to_transfer("write", size, CALLER);
  return part < 0 ? -1 : syscall(SYS_write, fd, bytes, (size_t)part);
}

#define AT_OFFSET(name, counted, number, pointer)                            \
  ssize_t name(int fd, pointer bytes, size_t size, off_t offset) {           \
    const ssize_t part = bytes_to_transfer(counted, size, CALLER);           \
    return part < 0 ? -1 : syscall(number, fd, bytes, (size_t)part, offset); \
  }
AT_OFFSET(pread, "pread", SYS_pread64, void*)
AT_OFFSET(pread64, "pread", SYS_pread64, void*)
AT_OFFSET(pwrite, "pwrite", SYS_pwrite64, const void*)
AT_OFFSET(pwrite64, "pwrite", SYS_pwrite64, const void*)

// The names that programs call if they are compiled with _FORTIFY_SOURCE. Here the check itself is
// left out.
#define CHECKED_OPEN(name)                                     \
  int name(const char* path, int flags);                       \
  int name(const char* path, int flags) {                      \
    note_opened(path);                                         \
    if (io_fails("open", CALLER)) return -1;                   \
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0); \
  }
CHECKED_OPEN(__open_2)
CHECKED_OPEN(__open64_2)
#define CHECKED_OPENAT(name)                                 \
  int name(int folder, const char* path, int flags);         \
  int name(int folder, const char* path, int flags) {        \
    note_opened(path);                                       \
    if (io_fails("open", CALLER)) return -1;                 \
    return (int)syscall(SYS_openat, folder, path, flags, 0); \
  }
CHECKED_OPENAT(__openat_2)
CHECKED_OPENAT(__openat64_2)
ssize_t __read_chk(int fd, void* bytes, size_t size, size_t room);
ssize_t __pread_chk(int fd, void* bytes, size_t size, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void* bytes, size_t size, off_t offset, size_t room);
ssize_t __read_chk(int fd, void* bytes, size_t size, size_t room) {
  (void)room;
  const ssize_t part = bytes_to_transfer("read", size, CALLER);
  return part < 0 ? -1 : syscall(SYS_read, fd, bytes, (size_t)part);
}
ssize_t __pread_chk(int fd, void* bytes, size_t size, off_t offset, size_t room) {
  (void)room;
  const ssize_t part = bytes_to_transfer("pread", size, CALLER);
  return part < 0 ? -1 : syscall(SYS_pread64, fd, bytes, (size_t)part, offset);
}
ssize_t __pread64_chk(int fd, void* bytes, size_t size, off_t offset, size_t room) {
  (void)room;
  const ssize_t part = bytes_to_transfer("pread", size, CALLER);
  return part < 0 ? -1 : syscall(SYS_pread64, fd, bytes, (size_t)part, offset);
}

#define MAP(name)                                                                           \
  void* name(void* address, size_t size, int protection, int flags, int fd, off_t offset) { \
    if (io_fails("mmap", CALLER)) return MAP_FAILED;                                        \
    return (void*)syscall(SYS_mmap, address, size, protection, flags, fd, offset);          \
  }
MAP(mmap)
MAP(mmap64)

// A failed close still closes, as on Linux.
int close(int fd) {
  const bool fails = io_fails("close", CALLER);
  const int result = (int)syscall(SYS_close, fd);
  if (!fails) return result;
  errno = settings.error;
  return -1;
}

// Functions that are passed on unchanged if they do not fail.
#define PASS_ON(counted, name, parameters, ...) \
  int name parameters {                         \
    if (io_fails(counted, CALLER)) return -1;   \
    return REAL(name)(__VA_ARGS__);             \
  }
PASS_ON("fsync", fsync, (int fd), fd)
PASS_ON("fsync", fdatasync, (int fd), fd)
PASS_ON("rename", rename, (const char* from, const char* to), from, to)
PASS_ON("rename", renameat, (int from_folder, const char* from, int to_folder, const char* to),
        from_folder, from, to_folder, to)
PASS_ON("rename", renameat2,
        (int from_folder, const char* from, int to_folder, const char* to, unsigned flags),
        from_folder, from, to_folder, to, flags)
PASS_ON("ftruncate", ftruncate, (int fd, off_t size), fd, size)
PASS_ON("ftruncate", ftruncate64, (int fd, off64_t size), fd, size)
PASS_ON("fstat", fstat, (int fd, struct stat* info), fd, info)
PASS_ON("fstat", fstat64, (int fd, struct stat64* info), fd, info)
PASS_ON("stat", stat, (const char* path, struct stat* info), path, info)
PASS_ON("stat", stat64, (const char* path, struct stat64* info), path, info)
PASS_ON("stat", lstat, (const char* path, struct stat* info), path, info)
PASS_ON("stat", lstat64, (const char* path, struct stat64* info), path, info)
PASS_ON("stat", fstatat, (int folder, const char* path, struct stat* info, int flags), folder, path,
        info, flags)
PASS_ON("mkdir", mkdir, (const char* path, mode_t mode), path, mode)
PASS_ON("mkdir", mkdirat, (int folder, const char* path, mode_t mode), folder, path, mode)
PASS_ON("chmod", fchmod, (int fd, mode_t mode), fd, mode)
PASS_ON("chmod", chmod, (const char* path, mode_t mode), path, mode)
PASS_ON("flock", flock, (int fd, int operation), fd, operation)

DIR* opendir(const char* path) { return io_fails("opendir", CALLER) ? NULL : REAL(opendir)(path); }
struct dirent* readdir(DIR* folder) {
  return io_fails("readdir", CALLER) ? NULL : REAL(readdir)(folder);
}

// Streams. glibc calls the kernel from inside these, so they fail as a whole.

enum { kStreamError = 0x20 };  // the bit of FILE::_flags that ferror tests

FILE* fopen(const char* path, const char* mode) {
  note_opened(path);
  return io_fails("fopen", CALLER) ? NULL : REAL(fopen)(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  note_opened(path);
  return io_fails("fopen", CALLER) ? NULL : REAL(fopen64)(path, mode);
}
size_t fread(void* bytes, size_t size, size_t count, FILE* stream) {
  if (!io_fails("fread", CALLER)) return REAL(fread)(bytes, size, count, stream);
  stream->_flags |= kStreamError;
  return 0;
}
size_t fwrite(const void* bytes, size_t size, size_t count, FILE* stream) {
  if (!io_fails("fwrite", CALLER)) return REAL(fwrite)(bytes, size, count, stream);
  stream->_flags |= kStreamError;
  return 0;
}
int fflush(FILE* stream) {
  if (!io_fails("fflush", CALLER)) return REAL(fflush)(stream);
  if (stream != NULL) stream->_flags |= kStreamError;
  return EOF;
}
int fclose(FILE* stream) {
  const bool fails = io_fails("fclose", CALLER);
  const int result = REAL(fclose)(stream);
  if (!fails) return result;
  errno = settings.error;
  return EOF;
}
