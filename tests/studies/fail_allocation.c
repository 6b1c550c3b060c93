// LD_PRELOAD: the allocation LIMPID_FAIL (counted from 1) fails, unless its call stack has failed before, by the file
// LIMPID_FAILED, one hash per line. Prints nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_long counter;
static _Thread_local int inside;

static int fails(void) {
  if (inside) return 0;
  inside = 1;
  const char* wanted = getenv("LIMPID_FAIL");
  const long number = atomic_fetch_add(&counter, 1) + 1;
  int result = 0;
  if (wanted && number == atol(wanted)) {
    void* frames[24];
    const int depth = backtrace(frames, 24);
    Dl_info base;
    uint64_t hash = 1469598103934665603u;
    for (int i = 2; i < depth; ++i) {  // independent of where libraries lie
      const uintptr_t at = dladdr(frames[i], &base) ? (uintptr_t)frames[i] - (uintptr_t)base.dli_fbase : 0;
      hash = (hash ^ at) * 1099511628211u;
    }
    const char* path = getenv("LIMPID_FAILED");
    FILE* file = path ? fopen(path, "a+") : NULL;
    result = 1;
    if (file) {
      unsigned long long other;
      rewind(file);
      while (fscanf(file, "%llx", &other) == 1)
        if (other == hash) result = 0;
      if (result) fprintf(file, "%llx\n", (unsigned long long)hash);
      fclose(file);
    }
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
    static char first[4096];
    static size_t used;
    if (inside) {
      used += (count * size + 15) / 16 * 16;
      return used <= sizeof first ? first + used - (count * size + 15) / 16 * 16 : NULL;
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
