// LD_PRELOAD: one allocation fails, chosen by its call stack. To be run without address randomisation (setarch -R), so that
// stacks have the same addresses in every run. Only what main() allocates counts: before it there is nobody to catch anything.
// Prints nothing.
//
//   LIMPID_STACKS=FILE        nothing fails; each distinct call stack is written there when it first allocates, as
//                             "NUMBER HASH", where NUMBER counts the allocations
//   LIMPID_FAIL=NUMBER:HASH   the first allocation of this stack fails; looked for from shortly before NUMBER on
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kFrames = 14, kPlaces = 1 << 20, kEarlier = 2000 };

static atomic_long counter;
static atomic_int chosen = -1;  // not read yet; then 0: nothing to do, 1: stacks are written, 2: one fails
static long first;
static uint64_t wanted;
static FILE* stacks;
static _Atomic uint64_t seen[kPlaces];
static _Thread_local int inside;
static atomic_int begun;
static int (*its_main)(int, char**, char**);

static int counted_main(int argc, char** argv, char** environment) {
  atomic_store(&begun, 1);
  const int code = its_main(argc, argv, environment);
  atomic_store(&begun, 0);
  return code;
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void* stack_end) {
  typedef int (*Start)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
  its_main = main;
  return ((Start)dlsym(RTLD_NEXT, "__libc_start_main"))(counted_main, argc, argv, init, fini, loader_fini, stack_end);
}

static void choose(void) {
  const char *file = getenv("LIMPID_STACKS"), *fail = getenv("LIMPID_FAIL");
  int mode = 0;
  if (fail) {
    char* rest = NULL;
    first = strtol(fail, &rest, 10) - kEarlier;
    wanted = strtoull(rest + 1, NULL, 16);
    mode = 2;
  } else if (file) {
    stacks = fopen(file, "w");
    mode = stacks != NULL;
  }
  atomic_store(&chosen, mode);
}

static uint64_t stack_now(void) {
  void* frames[kFrames];
  const int depth = backtrace(frames, kFrames);
  uint64_t hash = 1469598103934665603u;
  for (int i = 3; i < depth; ++i) hash = (hash ^ (uintptr_t)frames[i]) * 1099511628211u;
  return hash | 1;
}

static void remember(uint64_t hash, long number) {
  for (uint64_t at = hash % kPlaces;; at = (at + 1) % kPlaces) {
    uint64_t none = 0;
    if (atomic_load(&seen[at]) == hash) return;
    if (!atomic_compare_exchange_strong(&seen[at], &none, hash)) continue;
    fprintf(stacks, "%ld %llx\n", number, (unsigned long long)hash);
    fflush(stacks);
    return;
  }
}

static __attribute__((noinline)) int fails(void) {
  if (inside || !atomic_load(&begun)) return 0;
  inside = 1;
  if (atomic_load(&chosen) < 0) choose();
  const long number = atomic_fetch_add(&counter, 1) + 1;
  int result = 0;
  if (atomic_load(&chosen) == 1) remember(stack_now(), number);
  if (atomic_load(&chosen) == 2 && number >= first && stack_now() == wanted) {
    atomic_store(&chosen, 0);
    result = 1;
  }
  inside = 0;
  return result;
}

void* malloc(size_t size) {
  static void* (*real)(size_t);
  if (!real) real = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
  return fails() ? NULL : real(size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  static void* (*real)(size_t, size_t);
  if (!real) real = (void* (*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
  return fails() ? NULL : real(alignment, size);
}

void* calloc(size_t count, size_t size) {
  static void* (*real)(size_t, size_t);
  if (!real) {
    // dlsym itself asks for a little zeroed memory the first time
    static char first_bytes[4096];
    static size_t used;
    if (inside) {
      used += (count * size + 15) / 16 * 16;
      return used <= sizeof first_bytes ? first_bytes + used - (count * size + 15) / 16 * 16 : NULL;
    }
    inside = 1;
    real = (void* (*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    inside = 0;
  }
  return fails() ? NULL : real(count, size);
}

void* realloc(void* old, size_t size) {
  static void* (*real)(void*, size_t);
  if (!real) real = (void* (*)(void*, size_t))dlsym(RTLD_NEXT, "realloc");
  return fails() ? NULL : real(old, size);
}

int posix_memalign(void** out, size_t alignment, size_t size) {
  static int (*real)(void**, size_t, size_t);
  if (!real) real = (int (*)(void**, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
  return fails() ? ENOMEM : real(out, alignment, size);
}
