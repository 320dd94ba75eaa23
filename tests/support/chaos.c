/* Put before libc by LD_PRELOAD: counts every change that a process makes to files below one folder and, at a chosen
 * one, kills it (KILL), kills it halfway through that write (TEAR), cuts the power (POWER: some of what was written
 * since a file was last synced is lost), or lets the disk be full from then on (FULL). Asleep until `chaos_arm`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { ASLEEP, COUNT, KILL, TEAR, POWER, FULL };

struct written {
    dev_t device;
    ino_t file;
    int descriptor;
    off_t size, offset; /* of the file before, and where it was written */
    ssize_t length;
    char *before;
    struct written *earlier;
};

static int mode;
static long changes, moment;
static unsigned int seed;
static char folder[PATH_MAX];
static const char *flag;
static struct written *unsynced;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* With CHAOS_FULL the disk is full from the start below that folder; with CHAOS_FULL_WHILE for this process and those
 * that it starts, whenever there is that file. */
__attribute__((constructor)) static void begin(void)
{
    flag = getenv("CHAOS_FULL_WHILE");
    if (!flag)
        unsetenv("LD_PRELOAD");
    if (getenv("CHAOS_FULL"))
        snprintf(folder, sizeof folder, "%s", getenv("CHAOS_FULL")), mode = FULL;
}

void chaos_arm(const char *below, int wanted, long at, unsigned int chance)
{
    snprintf(folder, sizeof folder, "%s", below);
    mode = wanted, moment = at, seed = chance, changes = 0;
}

long chaos_count(void) { return changes; }

static int is_ours(const char *path) { return mode && path && !strncmp(path, folder, strlen(folder)); }

static int is_open_below(int descriptor)
{
    char link[64], path[PATH_MAX];
    if (!mode)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    return is_ours(path);
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

static void cut_power(void)
{
    for (struct written *each = unsynced; each; each = each->earlier)
        if (rand_r(&seed) % 2) {
            struct stat now;
            char path[64];
            snprintf(path, sizeof path, "/proc/self/fd/%d", each->descriptor);
            int file = REAL(open64)(path, O_RDWR);
            if (file < 0 || fstat(file, &now) || now.st_ino != each->file || now.st_dev != each->device)
                continue;
            ssize_t kept = each->size <= each->offset ? 0 : each->size - each->offset;
            kept = kept < each->length ? kept : each->length;
            if (kept && REAL(pwrite64)(file, each->before, kept, each->offset) != kept)
                continue;
            if (each->offset + each->length == now.st_size && now.st_size > each->size)
                REAL(ftruncate64)(file, each->size);
        }
    die();
}

static int is_full(void) { return mode == FULL && (!flag || !access(flag, F_OK)); }

/* Whether the change is to be refused. */
static int change(int grows)
{
    pthread_mutex_lock(&mutex);
    int now = ++changes >= moment && mode > COUNT;
    pthread_mutex_unlock(&mutex);
    if (now && mode == KILL)
        die();
    if (now && mode == POWER)
        cut_power();
    int refused = now && grows && is_full();
    if (refused)
        errno = ENOSPC;
    return refused;
}

static int grows_to(int descriptor, off_t end)
{
    struct stat now;
    return !fstat(descriptor, &now) && end > now.st_size;
}

static void remember(int descriptor, size_t length, off_t offset)
{
    struct stat now;
    struct written *entry = malloc(sizeof *entry);
    fstat(descriptor, &now);
    *entry = (struct written){now.st_dev, now.st_ino, descriptor, now.st_size, offset, length, malloc(length), unsynced};
    ssize_t found = pread64(descriptor, entry->before, length, offset);
    if (found < (ssize_t)length)
        memset(entry->before + (found < 0 ? 0 : found), 0, length - (found < 0 ? 0 : found));
    unsynced = entry;
}

ssize_t pwrite64(int descriptor, const void *data, size_t length, off64_t offset)
{
    if (is_open_below(descriptor)) {
        if (mode == TEAR && changes + 1 >= moment) {
            REAL(pwrite64)(descriptor, data, length / 2, offset);
            die();
        }
        if (change(grows_to(descriptor, offset + length)))
            return -1;
        if (mode == POWER)
            remember(descriptor, length, offset);
    }
    return REAL(pwrite64)(descriptor, data, length, offset);
}

ssize_t pwrite(int descriptor, const void *data, size_t length, off_t offset)
{
    return pwrite64(descriptor, data, length, offset);
}

ssize_t write(int descriptor, const void *data, size_t length)
{
    if (is_open_below(descriptor)) {
        off_t offset = lseek(descriptor, 0, SEEK_CUR);
        if (mode == TEAR && changes + 1 >= moment) {
            REAL(write)(descriptor, data, length / 2);
            die();
        }
        if (change(grows_to(descriptor, offset + length)))
            return -1;
        if (mode == POWER)
            remember(descriptor, length, offset);
    }
    return REAL(write)(descriptor, data, length);
}

int ftruncate64(int descriptor, off64_t length)
{
    if (is_open_below(descriptor) && change(grows_to(descriptor, length)))
        return -1;
    return REAL(ftruncate64)(descriptor, length);
}

int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }

static void forget(int descriptor)
{
    struct stat now;
    fstat(descriptor, &now);
    for (struct written **each = &unsynced; *each;) {
        struct written *entry = *each;
        if (entry->file == now.st_ino && entry->device == now.st_dev) {
            *each = entry->earlier;
            free(entry->before);
            free(entry);
        } else
            each = &entry->earlier;
    }
}

int fdatasync(int descriptor)
{
    if (is_open_below(descriptor)) {
        change(0);
        forget(descriptor);
    }
    return REAL(fdatasync)(descriptor);
}

int fsync(int descriptor)
{
    if (is_open_below(descriptor)) {
        change(0);
        forget(descriptor);
    }
    return REAL(fsync)(descriptor);
}

int rename(const char *from, const char *to)
{
    if (is_ours(from))
        change(0);
    return REAL(rename)(from, to);
}

int unlink(const char *path)
{
    if (is_ours(path))
        change(0);
    return REAL(unlink)(path);
}

int mkdir(const char *path, mode_t rights)
{
    if (is_ours(path) && change(1))
        return -1;
    return REAL(mkdir)(path, rights);
}

int open64(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (flags & O_CREAT && is_ours(path) && access(path, F_OK) && change(1))
        return -1;
    return REAL(open64)(path, flags, rights);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open64(path, flags, rights);
}

int statvfs64(const char *path, struct statvfs64 *found)
{
    int failed = REAL(statvfs64)(path, found);
    if (!failed && is_ours(path) && is_full())
        found->f_bavail = found->f_bfree = 0;
    return failed;
}

int statvfs(const char *path, struct statvfs *found)
{
    int failed = REAL(statvfs)(path, found);
    if (!failed && is_ours(path) && is_full())
        found->f_bavail = found->f_bfree = 0;
    return failed;
}
