/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing without waiting, whatever is at the other end.
 *
 * O_NONBLOCK belongs to what several processes have opened together: set on the stderr of a
 * terminal or a launcher, it would make the writes of all others fail. A thread that may wait in
 * their place would have to be there in every MPI process, to be ended before its code is unloaded,
 * and could not be while it waits. So pipes and terminals are opened once more, for each line, with
 * a flag that is only ours: lines are rare, and a descriptor that was kept would keep the pipe's
 * reader from seeing its end, and would not follow when the program redirects its stderr. Sockets
 * (of a journal) can be asked not to wait for one call. Files wait for nobody, and opened once more
 * would be written from another position.
 *
 * A pipe of another user cannot be opened. A line gets into it by way of a pipe of our own: moving
 * what is there from one to the other can be asked not to wait.
 */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(OC_OUTPUT_MAX <= PIPE_BUF, "a pipe may take a part");

static const char *speaker = "optcast";
static atomic_uint lost_lines;
static atomic_bool in_a_line;      /* the last one has no end */

static bool output_has_room(int fd)
{
    struct pollfd event = {.fd = fd, .events = POLLOUT};

    return 1 == poll(&event, 1, 0) && POLLOUT == event.revents;
}

/* Where nothing better can be had: the room may be somebody else's before the text is there. */
static ssize_t put_with_luck(int fd, const char *text, size_t length)
{
    return output_has_room(fd) ? write(fd, text, length) : -1;
}

static ssize_t put_unopened(int fd, bool is_pipe, const char *text, size_t length)
{
    ssize_t moved = -1;
    int own[2];

    if (!is_pipe || 0 != pipe2(own, O_CLOEXEC | O_NONBLOCK)) {
        return put_with_luck(fd, text, length);
    }
    if ((ssize_t) length == write(own[1], text, length)) {
        moved = splice(own[0], NULL, fd, NULL, length, SPLICE_F_NONBLOCK);
    }
    close(own[0]);
    close(own[1]);
    return moved;
}

static ssize_t put_reopened(int fd, bool is_pipe, const char *text, size_t length)
{
    char path[32];
    ssize_t written;
    int own;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own < 0) {
        return put_unopened(fd, is_pipe, text, length);
    }
    written = write(own, text, length);
    close(own);
    return written;
}

/* That nobody reads any more is no reason to end the process, which may be somebody else's. */
static ssize_t put_unsignalled(int fd, bool is_pipe, const char *text, size_t length)
{
    static const struct timespec now;
    sigset_t broken, before, pending;
    ssize_t written;

    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    written = put_reopened(fd, is_pipe, text, length);
    if (written < 0 && EPIPE == errno && 0 == sigismember(&pending, SIGPIPE)) {
        (void) sigtimedwait(&broken, NULL, &now);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return written;
}

static ssize_t output_put(int fd, const char *text, size_t length)
{
    struct stat what;

    if (0 != fstat(fd, &what)) {
        return -1;
    }
    if (S_ISSOCK(what.st_mode)) {
        return send(fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (S_ISFIFO(what.st_mode) || S_ISCHR(what.st_mode)) {
        return put_unsignalled(fd, S_ISFIFO(what.st_mode), text, length);
    }
    return write(fd, text, length);
}

bool oc_output_write(int fd, const char *text, size_t length)
{
    return (ssize_t) length == output_put(fd, text, length);
}

void oc_output_set_name(const char *name)
{
    speaker = name;
}

/* The line ends in a newline. */
static bool put_line(const char *line, size_t length)
{
    ssize_t written;

    if (atomic_load(&in_a_line)) {
        if (1 != output_put(STDERR_FILENO, "\n", 1)) {
            return false;
        }
        atomic_store(&in_a_line, false);
    }
    written = output_put(STDERR_FILENO, line, length);
    if (written > 0 && written < (ssize_t) length) {
        atomic_store(&in_a_line, true);
    }
    return (ssize_t) length == written;
}

static bool catch_up(void)
{
    unsigned lost = atomic_exchange(&lost_lines, 0);
    char line[256];

    if (0 == lost) {
        return true;
    }
    snprintf(line, sizeof(line), "%.128s: %u line%s lost because nobody read %s\n", speaker, lost,
             1 == lost ? " was" : "s were", 1 == lost ? "it" : "them");
    if (put_line(line, strlen(line))) {
        return true;
    }
    atomic_fetch_add(&lost_lines, lost);
    return false;
}

void oc_output_catch_up(void)
{
    int saved = errno;

    if (0 != atomic_load_explicit(&lost_lines, memory_order_relaxed)) {
        (void) catch_up();
    }
    errno = saved;
}

void oc_output_line(const char *format, ...)
{
    char line[OC_OUTPUT_MAX];
    int saved = errno;
    size_t length;
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line) - 1, format, args);
    va_end(args);
    length = strlen(line);
    line[length++] = '\n';
    if (!catch_up() || !put_line(line, length)) {
        atomic_fetch_add(&lost_lines, 1);
    }
    errno = saved;
}
