/* Has file operations in one folder fail now and then, for tests/campaigns/appliance/fault_campaign.py.
 *
 *     gcc -shared -fPIC -O2 -o fault_shim.so fault_shim.c -ldl
 *     LD_PRELOAD=./fault_shim.so python ...
 *
 * Nothing fails until fault_arm(folder, seed, one_in, most) is called. Then one operation in `one_in` fails with EIO or
 * ENOSPC, at most `most` of them. A write may write half of its bytes and say so, half of them and fail, or all of them
 * and fail with EIO. It never writes all of them and answers ENOSPC: Linux says how many bytes it wrote where it wrote any.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[PATH_MAX];
static uint64_t state;
static unsigned one_in, most, count[6];
enum { WRITE, SYNC, RENAME, UNLINK, TRUNCATE, SHORT };

void fault_arm(const char *where, uint64_t seed, unsigned rate, unsigned limit) {
    strncpy(folder, where, sizeof folder - 1);
    state = seed * 2862933555777941757ULL + 3037000493ULL;
    one_in = rate;
    most = limit;
    memset(count, 0, sizeof count);
}

void fault_disarm(void) { one_in = 0; }
unsigned fault_count(int kind) { return count[kind]; }

static unsigned draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33);
}

static int strikes(int kind) {
    if (!one_in || !most || draw() % one_in) return 0;
    most--;
    count[kind]++;
    return draw() % 2 ? EIO : ENOSPC;
}

static int ours(const char *path) { return one_in && strncmp(path, folder, strlen(folder)) == 0; }

static int ours_open(int fd) {
    char link[64], path[PATH_MAX];
    if (!one_in) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return ours(path);
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

#define WRITES(name, offset_type) \
    ssize_t name(int fd, const void *data, size_t size, offset_type at) { \
        REAL(ssize_t, #name, int, const void *, size_t, offset_type); \
        int error = ours_open(fd) ? strikes(WRITE) : 0; \
        if (!error) return real(fd, data, size, at); \
        switch (draw() % 4) { \
        case 0: \
            count[SHORT]++; \
            return real(fd, data, size / 2, at); /* the caller goes on with the rest */ \
        case 1: real(fd, data, size / 2, at); break; \
        case 2: if (error == EIO) real(fd, data, size, at); break; \
        } \
        errno = error; \
        return -1; \
    }
WRITES(pwrite, off_t)
WRITES(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    int error = ours_open(fd) ? strikes(WRITE) : 0;
    if (!error) return real(fd, data, size);
    if (draw() % 2 && size > 1) {
        count[SHORT]++;
        return real(fd, data, size / 2);
    }
    errno = error;
    return -1;
}

#define SYNCS(name) \
    int name(int fd) { \
        REAL(int, #name, int); \
        int error = ours_open(fd) ? strikes(SYNC) : 0; \
        if (!error) return real(fd); \
        errno = error; \
        return -1; \
    }
SYNCS(fsync)
SYNCS(fdatasync)

#define TRUNCATES(name, offset_type) \
    int name(int fd, offset_type size) { \
        REAL(int, #name, int, offset_type); \
        int error = ours_open(fd) ? strikes(TRUNCATE) : 0; \
        if (!error) return real(fd, size); \
        errno = error; \
        return -1; \
    }
TRUNCATES(ftruncate, off_t)
TRUNCATES(ftruncate64, off64_t)

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    int error = ours(from) ? strikes(RENAME) : 0;
    if (!error) return real(from, to);
    errno = error;
    return -1;
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    int error = ours(path) ? strikes(UNLINK) : 0;
    if (!error) return real(path);
    errno = error;
    return -1;
}
