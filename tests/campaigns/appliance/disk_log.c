/* Under the C library: notes what is written, cut, synced and removed below a folder, in order, with the bytes.
 *
 * power_cut_campaign.py makes of it what a disk may hold after a power cut at any moment. A note: kind, length of the
 * path, place, length of the data; then both. W: written, T: cut to a length, S: synced, U: removed, M: a mark.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char folder[PATH_MAX];
static FILE *notes;

struct __attribute__((packed)) head { char kind; uint16_t path; uint64_t at; uint32_t size; };

static void note(char kind, const char *path, uint64_t at, const void *data, size_t size) {
    struct head head = {kind, (uint16_t)strlen(path), at, (uint32_t)size};
    fwrite(&head, sizeof head, 1, notes);
    fwrite(path, 1, head.path, notes);
    if (size) fwrite(data, 1, size, notes);
    fflush(notes);
}

void disk_log(const char *where, const char *file) {
    strncpy(folder, where, sizeof folder - 1);
    notes = fopen(file, "ab");
}

void disk_mark(uint64_t number) { note('M', "", number, NULL, 0); }

static int ours(const char *path) { return notes && strncmp(path, folder, strlen(folder)) == 0; }

static int path_of(int fd, char *path) {
    char link[64];
    if (!notes) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return ours(path);
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static void written(int fd, uint64_t at, const void *data, ssize_t size) {
    char path[PATH_MAX];
    if (size <= 0 || !path_of(fd, path)) return;
    note('W', path, at, data, (size_t)size);
    if (fcntl(fd, F_GETFL) & O_DSYNC) note('S', path, 0, NULL, 0);
}

#define WRITES(name, offset_type) \
    ssize_t name(int fd, const void *data, size_t size, offset_type at) { \
        REAL(ssize_t, #name, int, const void *, size_t, offset_type); \
        ssize_t done = real(fd, data, size, at); \
        written(fd, (uint64_t)at, data, done); \
        return done; \
    }
WRITES(pwrite, off_t)
WRITES(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t);
    char path[PATH_MAX];
    if (!path_of(fd, path)) return real(fd, data, size);
    ssize_t done = real(fd, data, size);
    off_t end = lseek(fd, 0, SEEK_CUR);
    if (done > 0 && end >= done) written(fd, (uint64_t)(end - done), data, done);
    return done;
}

#define SYNCS(name) \
    int name(int fd) { \
        REAL(int, #name, int); \
        char path[PATH_MAX]; \
        int done = real(fd); \
        if (!done && path_of(fd, path)) note('S', path, 0, NULL, 0); \
        return done; \
    }
SYNCS(fsync)
SYNCS(fdatasync)

#define TRUNCATES(name, offset_type) \
    int name(int fd, offset_type size) { \
        REAL(int, #name, int, offset_type); \
        char path[PATH_MAX]; \
        int done = real(fd, size); \
        if (!done && path_of(fd, path)) note('T', path, (uint64_t)size, NULL, 0); \
        return done; \
    }
TRUNCATES(ftruncate, off_t)
TRUNCATES(ftruncate64, off64_t)

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    int done = real(path);
    if (!done && ours(path)) note('U', path, 0, NULL, 0);
    return done;
}
