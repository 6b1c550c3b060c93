// LD_PRELOAD: appends to LIMPID_JOURNAL every change that the process makes to files under LIMPID_UNDER, in order:
// one line of text "KIND path [path or numbers]", and after "write" the bytes themselves.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static ssize_t raw_write(int file, const void* data, size_t size) {
  REAL(ssize_t, "write", int, const void*, size_t);
  return real(file, data, size);
}

static int ours(const char* path) {
  const char* under = getenv("LIMPID_UNDER");
  return under && path && strncmp(path, under, strlen(under)) == 0;
}

static void name_of(int file, char* path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t size = readlink(link, path, 4095);
  path[size > 0 ? size : 0] = 0;
}

static void whole(const char* path, char* into) {
  if (path[0] == '/') {
    snprintf(into, 4096, "%s", path);
  } else {
    char here[2048];
    snprintf(into, 4096, "%s/%s", getcwd(here, sizeof here) ? here : "", path);
  }
}

static void record(const char* line, const void* data, size_t size) {
  static int journal = -1;
  pthread_mutex_lock(&mutex);
  if (journal < 0) journal = open(getenv("LIMPID_JOURNAL"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (raw_write(journal, line, strlen(line)) < 0 || (size && raw_write(journal, data, size) < 0)) abort();
  pthread_mutex_unlock(&mutex);
}

static void record_write(int file, const void* data, ssize_t done, off_t offset) {
  char path[4096], line[4200];
  if (done <= 0) return;
  name_of(file, path);
  if (!ours(path)) return;
  snprintf(line, sizeof line, "write %s %lld %zd\n", path, (long long)offset, done);
  record(line, data, (size_t)done);
}

ssize_t write(int file, const void* data, size_t size) {
  const int appends = fcntl(file, F_GETFL) & O_APPEND;
  const off_t at = appends ? lseek(file, 0, SEEK_END) : lseek(file, 0, SEEK_CUR);
  const ssize_t done = raw_write(file, data, size);
  if (at >= 0) record_write(file, data, done, at);
  return done;
}

ssize_t pwrite(int file, const void* data, size_t size, off_t offset) {
  REAL(ssize_t, "pwrite", int, const void*, size_t, off_t);
  const ssize_t done = real(file, data, size, offset);
  record_write(file, data, done, offset);
  return done;
}
ssize_t pwrite64(int file, const void* data, size_t size, off_t offset) { return pwrite(file, data, size, offset); }

static void record_one(const char* kind, int file, long long number) {
  char path[4096], line[4200];
  name_of(file, path);
  if (!ours(path)) return;
  snprintf(line, sizeof line, "%s %s %lld\n", kind, path, number);
  record(line, NULL, 0);
}

int fsync(int file) {
  REAL(int, "fsync", int);
  const int result = real(file);
  record_one("fsync", file, 0);
  return result;
}

int ftruncate(int file, off_t size) {
  REAL(int, "ftruncate", int, off_t);
  const int result = real(file, size);
  record_one("truncate", file, (long long)size);
  return result;
}
int ftruncate64(int file, off_t size) { return ftruncate(file, size); }

static void record_names(const char* kind, const char* one, const char* other) {
  char from[4096], to[4096] = "", line[8300];
  whole(one, from);
  if (other) whole(other, to);
  if (!ours(from)) return;
  snprintf(line, sizeof line, "%s %s %s\n", kind, from, to);
  record(line, NULL, 0);
}

int rename(const char* from, const char* to) {
  REAL(int, "rename", const char*, const char*);
  const int result = real(from, to);
  if (result == 0) record_names("rename", from, to);
  return result;
}

int unlink(const char* path) {
  REAL(int, "unlink", const char*);
  const int result = real(path);
  if (result == 0) record_names("unlink", path, NULL);
  return result;
}

int unlinkat(int folder, const char* path, int flags) {
  REAL(int, "unlinkat", int, const char*, int);
  char name[4096], all[8200];
  const int result = real(folder, path, flags);
  if (folder == AT_FDCWD || path[0] == '/') {
    snprintf(all, sizeof all, "%s", path);
  } else {
    name_of(folder, name);
    snprintf(all, sizeof all, "%s/%s", name, path);
  }
  if (result == 0) record_names(flags & AT_REMOVEDIR ? "rmdir" : "unlink", all, NULL);
  return result;
}

int remove(const char* path) {
  REAL(int, "remove", const char*);
  const int result = real(path);
  if (result == 0) record_names("unlink", path, NULL);
  return result;
}

int mkdir(const char* path, mode_t mode) {
  REAL(int, "mkdir", const char*, mode_t);
  const int result = real(path, mode);
  if (result == 0) record_names("mkdir", path, NULL);
  return result;
}

static int opened(int file, const char* path, int flags) {
  if (file >= 0 && (flags & (O_CREAT | O_TRUNC))) record_names("create", path, flags & O_TRUNC ? "truncated" : "kept");
  return file;
}

int open(const char* path, int flags, ...) {
  REAL(int, "open", const char*, int, ...);
  va_list list;
  va_start(list, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  return opened(real(path, flags, mode), path, flags);
}

int open64(const char* path, int flags, ...) {
  REAL(int, "open64", const char*, int, ...);
  va_list list;
  va_start(list, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
  va_end(list);
  return opened(real(path, flags, mode), path, flags);
}
