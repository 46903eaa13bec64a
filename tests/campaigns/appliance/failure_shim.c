/* Has the n-th allocation, thread start, open or read of one process fail, for tests/campaigns/appliance/failure_campaign.py.
 *
 *     gcc -shared -fPIC -O2 -o failure_shim.so failure_shim.c -ldl -lpthread
 *     FAILURE_CONTROL=file LD_PRELOAD=./failure_shim.so PYTHONMALLOC=malloc python ...
 *
 * The file is shared with the campaign, which writes into it what is to fail and reads from it what has been counted.
 * Only the process whose number stands in it counts and fails. C library functions that call each other are not seen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { ALLOCATION, THREAD, OPEN, READ, KINDS };

struct control {
    _Atomic int32_t pid;   /* who counts and fails; 0: nobody */
    _Atomic int32_t kind;  /* what fails */
    _Atomic int32_t error; /* errno */
    _Atomic int32_t unused;
    _Atomic int64_t first, last; /* the numbers of the calls that fail, from 1 */
    _Atomic int64_t counted[KINDS], failed;
};

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static struct control nobody, *control = &nobody;
static int32_t self;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAILURE_CONTROL");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    self = getpid();
    if (fd < 0) return;
    void *found = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (found != MAP_FAILED) control = found;
    close(fd);
}

static int fails(int kind) {
    if (control->pid != self || !self) return 0;
    int64_t number = ++control->counted[kind];
    if (control->kind != kind || number < control->first || number > control->last) return 0;
    control->failed++;
    errno = control->error;
    return 1;
}

void *malloc(size_t size) { return fails(ALLOCATION) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails(ALLOCATION) ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return fails(ALLOCATION) ? NULL : __libc_realloc(old, size); }

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*work)(void *), void *with) {
    REAL(int, "pthread_create", pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    return fails(THREAD) ? EAGAIN : real(thread, how, work, with);
}

#define OPENS() \
    va_list more; \
    va_start(more, flags); \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0; \
    va_end(more); \
    if (fails(OPEN)) return -1

int open(const char *path, int flags, ...) {
    REAL(int, "open", const char *, int, ...);
    OPENS();
    return real(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    REAL(int, "open64", const char *, int, ...);
    OPENS();
    return real(path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
    REAL(int, "openat", int, const char *, int, ...);
    OPENS();
    return real(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
    REAL(int, "openat64", int, const char *, int, ...);
    OPENS();
    return real(at, path, flags, mode);
}

ssize_t read(int fd, void *into, size_t size) {
    REAL(ssize_t, "read", int, void *, size_t);
    return fails(READ) ? -1 : real(fd, into, size);
}
ssize_t pread(int fd, void *into, size_t size, off_t at) {
    REAL(ssize_t, "pread", int, void *, size_t, off_t);
    return fails(READ) ? -1 : real(fd, into, size, at);
}
ssize_t pread64(int fd, void *into, size_t size, off64_t at) {
    REAL(ssize_t, "pread64", int, void *, size_t, off64_t);
    return fails(READ) ? -1 : real(fd, into, size, at);
}
