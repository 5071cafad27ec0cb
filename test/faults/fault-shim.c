/*
 * LD_PRELOAD: counts the operations by which the processes of a server change files and send messages, and makes one of
 * them go wrong. All processes and threads share one control page, the file FAULTS_CONTROL (`control.ts` has its layout).
 * An operation on files counts below the paths of FAULTS_UNDER, which are separated by colons. With FAULTS_TRACE each
 * counted operation is a line of that file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <netinet/in.h>
#include <unistd.h>

enum mode { COUNT, KILL, DIE, FAIL, FAIL_AFTER, HANG, TORN, FULL };
enum action { PASS, REFUSE, REFUSE_AFTER, HALF };

struct control {
  _Atomic uint32_t armed, mode, at, error, count, hit, hitPid, hitTid, released, messages, outgoingPort, only;
  char text[400];
};

static struct control none;
static struct control *control = &none;
static const char *under[8];
static int trace = -1;

#define FILES 4096
static char paths[FILES][320];
static _Atomic unsigned char tracked[FILES];

__attribute__((constructor)) static void start(void) {
  const char *file = getenv("FAULTS_CONTROL");
  char *prefixes = getenv("FAULTS_UNDER");
  if (!file || !prefixes) return;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return;
  void *page = mmap(0, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  syscall(SYS_close, fd);
  if (page == MAP_FAILED) return;
  prefixes = strdup(prefixes);
  int n = 0;
  for (char *one = strtok(prefixes, ":"); one && n < 7; one = strtok(0, ":")) under[n++] = one;
  const char *lines = getenv("FAULTS_TRACE");
  if (lines) trace = (int)syscall(SYS_openat, AT_FDCWD, lines, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  control = page;
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int isUnder(const char *path) {
  for (int n = 0; under[n]; n++)
    if (!strncmp(path, under[n], strlen(under[n]))) return 1;
  return 0;
}

/* The probe of a store touches its marks each second, whatever the server does. */
static int isMark(const char *path) {
  const char *name = strrchr(path, '/');
  return name && (!strcmp(name, "/.nuthatch-alive") || !strcmp(name, "/.nuthatch-store"));
}

static const char *const kinds[] = {"open", "write", "sync", "truncate", "rename", "unlink", "rmdir",
                                    "mkdir", "link", "touch", "message", "request", "answer"};

static int grows(const char *kind) {
  return !strcmp(kind, "open") || !strcmp(kind, "write") || !strcmp(kind, "mkdir");
}

static enum action counted(const char *kind, const char *path, long bytes) {
  struct control *c = control;
  if (!c->armed || (c->only && strcmp(kind, kinds[c->only - 1]))) return PASS;
  uint32_t n = atomic_fetch_add(&c->count, 1) + 1;
  int pid = (int)syscall(SYS_getpid), tid = (int)syscall(SYS_gettid);
  char line[480];
  if (trace >= 0) {
    int length = snprintf(line, sizeof line, "%u %d %d %s %ld %s\n", n, pid, tid, kind, bytes, path);
    syscall(SYS_write, trace, line, length < (int)sizeof line ? length : (int)sizeof line - 1);
  }
  uint32_t mode = c->mode;
  if (n != c->at && !(mode == FULL && n > c->at && c->at && grows(kind))) return PASS;
  uint32_t first = 0;
  if (mode != COUNT && atomic_compare_exchange_strong(&c->hitPid, &first, (uint32_t)pid)) {
    c->hitTid = (uint32_t)tid;
    snprintf(c->text, sizeof c->text, "%s %ld %s", kind, bytes, path);
    c->hit = n;
  }
  switch (mode) {
    case KILL:
      syscall(SYS_kill, 0, SIGKILL);
      for (;;) pause();
    case DIE:
      syscall(SYS_kill, pid, SIGKILL);
      for (;;) pause();
    case FAIL:
    case FULL:
      return grows(kind) || mode == FAIL ? REFUSE : PASS;
    case FAIL_AFTER:
      return REFUSE_AFTER;
    case TORN:
      if (bytes > 1 && !strcmp(kind, "write")) return HALF;
      syscall(SYS_kill, 0, SIGKILL);
      for (;;) pause();
    case HANG:
      while (!c->released) usleep(1000);
      return PASS;
    default:
      return PASS;
  }
}

static void endGroup(void) {
  syscall(SYS_kill, 0, SIGKILL);
  for (;;) pause();
}

static int refused(void) {
  errno = (int)control->error;
  return -1;
}

/* Runs an operation unless it is refused. The error of an operation that was carried out is reported afterwards. */
#define CHECKED(decision, call) \
  ({ \
    __typeof__(call) result_ = -1; \
    enum action action_ = (decision); \
    if (action_ == REFUSE) result_ = refused(); \
    else { \
      result_ = (call); \
      if (action_ == HALF) endGroup(); \
      if (action_ == REFUSE_AFTER && result_ >= 0) result_ = refused(); \
    } \
    result_; \
  })

static int opened(int fd, const char *path, int flags) {
  if (fd >= 0 && fd < FILES) {
    int isTracked = (flags & O_ACCMODE) != O_RDONLY && isUnder(path);
    if (isTracked) snprintf(paths[fd], sizeof paths[fd], "%s", path);
    tracked[fd] = (unsigned char)isTracked;
  }
  return fd;
}

static int openOne(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
  /* Opening a file that exists changes nothing. */
  int makes = (flags & O_TRUNC) || ((flags & O_CREAT) && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0);
  if (!control->armed || !makes || !isUnder(path)) return opened(real(path, flags, mode), path, flags);
  enum action action = counted("open", path, 0);
  if (action == REFUSE) return refused();
  int fd = opened(real(path, flags, mode), path, flags);
  if (action == REFUSE_AFTER && fd >= 0) {
    tracked[fd] = 0;
    syscall(SYS_close, fd);
    return refused();
  }
  return fd;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(name); \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
      va_list rest; \
      va_start(rest, flags); \
      mode = va_arg(rest, mode_t); \
      va_end(rest); \
    } \
    return openOne(real, path, flags, mode); \
  }
#undef open64
OPEN(open)
OPEN(open64)

int close(int fd) {
  REAL(close);
  if (fd >= 0 && fd < FILES) tracked[fd] = 0;
  return real(fd);
}

/* A descriptor may have been closed by a system call, and given to something else. */
static int isFile(int fd) {
  struct stat about;
  return fd >= 0 && fd < FILES && tracked[fd] && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

/* Returns the kind of the message that a write to a descriptor is; 0: none. `lost`: the far end may lose it. */
static const char *messageOf(int fd, int *isLost) {
  *isLost = 0;
  if (!control->armed || (!control->messages && !control->outgoingPort) || fd <= 2) return 0;
  union {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_un un;
    struct sockaddr_storage space;
  } peer;
  socklen_t length = sizeof peer;
  if (getpeername(fd, &peer.any, &length)) return 0;
  if (peer.any.sa_family == AF_INET && control->outgoingPort && ntohs(peer.in.sin_port) == control->outgoingPort) {
    *isLost = 1;
    return "request";
  }
  if (!control->messages) return 0;
  if (peer.any.sa_family == AF_UNIX) return "message";
  return peer.any.sa_family == AF_INET || peer.any.sa_family == AF_INET6 ? "answer" : 0;
}

/* The connection is lost, with or without the message. */
static void loseConnection(int fd) { syscall(SYS_shutdown, fd, SHUT_RDWR); }

#define SENT(fd, bytes, call) \
  do { \
    int isLost_; \
    const char *kind_ = messageOf(fd, &isLost_); \
    if (kind_) { \
      enum action action_ = counted(kind_, "", bytes); \
      if (!isLost_ || (action_ != REFUSE && action_ != REFUSE_AFTER)) return (call); \
      if (action_ == REFUSE) { \
        loseConnection(fd); \
        errno = ECONNRESET; \
        return -1; \
      } \
      ssize_t sent_ = (call); \
      syscall(SYS_shutdown, fd, SHUT_RD); \
      return sent_; \
    } \
  } while (0)

ssize_t write(int fd, const void *from, size_t bytes) {
  REAL(write);
  if (isFile(fd)) {
    enum action action = counted("write", paths[fd], (long)bytes);
    if (action == HALF) {
      real(fd, from, bytes / 2);
      endGroup();
    }
    return CHECKED(action, real(fd, from, bytes));
  }
  SENT(fd, (long)bytes, real(fd, from, bytes));
  return real(fd, from, bytes);
}

static long total(const struct iovec *parts, int count) {
  long bytes = 0;
  for (int n = 0; n < count; n++) bytes += (long)parts[n].iov_len;
  return bytes;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  if (isFile(fd)) return CHECKED(counted("write", paths[fd], total(parts, count)), real(fd, parts, count));
  SENT(fd, total(parts, count), real(fd, parts, count));
  return real(fd, parts, count);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  REAL(sendmsg);
  SENT(fd, total(message->msg_iov, (int)message->msg_iovlen), real(fd, message, flags));
  return real(fd, message, flags);
}

#define PWRITE(name, offset) \
  ssize_t name(int fd, const void *from, size_t bytes, offset at) { \
    REAL(name); \
    if (!isFile(fd)) return real(fd, from, bytes, at); \
    enum action action = counted("write", paths[fd], (long)bytes); \
    if (action == HALF) { \
      real(fd, from, bytes / 2, at); \
      endGroup(); \
    } \
    return CHECKED(action, real(fd, from, bytes, at)); \
  }
#undef pwrite64
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define PWRITEV(name, offset) \
  ssize_t name(int fd, const struct iovec *parts, int count, offset at) { \
    REAL(name); \
    if (!isFile(fd)) return real(fd, parts, count, at); \
    return CHECKED(counted("write", paths[fd], total(parts, count)), real(fd, parts, count, at)); \
  }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

#define OF_FILE(name, kind, parameters, ...) \
  int name parameters { \
    REAL(name); \
    if (!isFile(fd)) return real(__VA_ARGS__); \
    return CHECKED(counted(kind, paths[fd], 0), real(__VA_ARGS__)); \
  }
OF_FILE(fsync, "sync", (int fd), fd)
OF_FILE(fdatasync, "sync", (int fd), fd)
OF_FILE(ftruncate, "truncate", (int fd, off_t length), fd, length)
OF_FILE(ftruncate64, "truncate", (int fd, off64_t length), fd, length)

#define OF_PATH(name, kind, path, parameters, ...) \
  int name parameters { \
    REAL(name); \
    if (!control->armed || !isUnder(path)) return real(__VA_ARGS__); \
    return CHECKED(counted(kind, path, 0), real(__VA_ARGS__)); \
  }
OF_PATH(rename, "rename", to, (const char *from, const char *to), from, to)
OF_PATH(unlink, "unlink", path, (const char *path), path)
OF_PATH(link, "link", to, (const char *from, const char *to), from, to)
OF_PATH(symlink, "link", to, (const char *from, const char *to), from, to)
OF_PATH(chmod, "touch", path, (const char *path, mode_t mode), path, mode)

/* Removing or making a directory that is not there, or is there, changes nothing. */
int mkdir(const char *path, mode_t mode) {
  REAL(mkdir);
  if (!control->armed || !isUnder(path) || syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0) return real(path, mode);
  return CHECKED(counted("mkdir", path, 0), real(path, mode));
}
int rmdir(const char *path) {
  REAL(rmdir);
  if (!control->armed || !isUnder(path) || syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0) return real(path);
  return CHECKED(counted("rmdir", path, 0), real(path));
}
int utimensat(int directory, const char *path, const struct timespec times[2], int flags) {
  REAL(utimensat);
  if (!control->armed || !isUnder(path) || isMark(path)) return real(directory, path, times, flags);
  return CHECKED(counted("touch", path, 0), real(directory, path, times, flags));
}
