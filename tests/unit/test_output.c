/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns the unit tests of lines that never wait: whatever stderr is, a full one keeps nobody, is
 * left as it was for others, and is told later how much was lost.
 */
/* Test: quick 20 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/output.h"
#include "base/throttle.h"

#define NOBODY 65534

static int own_stderr;
static char text[1 << 20];

static void restore(void)
{
    dup2(own_stderr, STDERR_FILENO);
}

/* As the stderr from now on; our copy of it is gone. */
static void become_stderr(int fd)
{
    assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    close(fd);
}

/* What is there now. */
static const char *read_all(int fd)
{
    size_t used = 0;
    ssize_t got;

    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    while (used + 1 < sizeof(text) && (got = read(fd, text + used, sizeof(text) - 1 - used)) > 0) {
        used += (size_t) got;
    }
    text[used] = '\0';
    return text;
}

static unsigned lines_with(const char *where, const char *part)
{
    unsigned count = 0;

    while (NULL != (where = strstr(where, part))) {
        count++;
        where++;
    }
    return count;
}

/* Nobody reads; then somebody does, and all is accounted for. The descriptor stays as it was. */
static void check_full(int reader, unsigned lines)
{
    int flags = fcntl(STDERR_FILENO, F_GETFL);
    unsigned said, lost = 0;
    const char *sum;

    for (unsigned i = 0; i < lines; i++) {
        oc_output_line("line %u of many, %.*s", i, 200, "..............................");
    }
    said = lines_with(read_all(reader), "of many");
    assert_true(said > 0);
    assert_true(said < lines);
    assert_int_equal(lines_with(text, "were lost"), 0);
    oc_output_catch_up();
    oc_output_line("one more");
    oc_output_catch_up();
    sum = strstr(read_all(reader), "optcast: ");
    assert_non_null(sum);
    assert_int_equal(sscanf(sum, "optcast: %u lines were lost because nobody read them", &lost), 1);
    assert_int_equal(lines_with(text, "were lost"), 1);
    assert_non_null(strstr(sum, "\none more"));
    assert_int_equal(said + lost, lines);
    assert_int_equal(fcntl(STDERR_FILENO, F_GETFL), flags);
}

static void test_pipe(void **state)
{
    int ends[2];

    (void) state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    become_stderr(ends[1]);
    check_full(ends[0], 3000);
    close(ends[0]);
    /* nobody will ever read: no signal, and nothing waits */
    oc_output_line("to nobody");
    restore();
    oc_output_catch_up();
}

/* In a process that is not allowed to open the pipe. */
static void in_stranger(int reader)
{
    if (0 != fchmod(reader, 0) || (0 == getuid() && 0 != setuid(NOBODY))) {
        _exit(2);
    }
    check_full(reader, 300);
    close(reader);
    oc_output_line("to nobody");
    _exit(0);
}

static void test_pipe_of_others(void **state)
{
    int ends[2], status;
    pid_t pid;

    (void) state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (0 == pid) {
        alarm(10);
        become_stderr(ends[1]);
        in_stranger(ends[0]);
    }
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_socket(void **state)
{
    int ends[2];

    (void) state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    become_stderr(ends[1]);
    check_full(ends[0], 5000);
    close(ends[0]);
    oc_output_line("to nobody");
    restore();
    oc_output_catch_up();
}

/* A terminal may take a part of a line: it gets an end, and the line counts as lost. */
static void test_terminal(void **state)
{
    struct termios plain;
    int master, slave;

    (void) state;
    assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
    assert_int_equal(tcgetattr(slave, &plain), 0);
    cfmakeraw(&plain);
    assert_int_equal(tcsetattr(slave, TCSANOW, &plain), 0);
    become_stderr(slave);
    for (int i = 0; i < 3000; i++) {
        oc_output_line("line %d", i);
    }
    assert_true(lines_with(read_all(master), "line ") > 10);
    oc_output_line("the end");
    read_all(master);
    assert_non_null(strstr(text, "were lost because nobody read them\nthe end\n"));
    restore();
    close(master);
}

/* Others write there, too: a second position in the file would write over what they wrote. */
static void test_file(void **state)
{
    char path[] = "/tmp/optcast-output-XXXXXX";
    int file = mkstemp(path), again;

    (void) state;
    assert_true(file >= 0);
    again = dup(file);
    become_stderr(file);
    oc_output_line("first");
    assert_int_equal(write(again, "second\n", 7), 7);
    oc_output_line("third");
    restore();
    assert_int_equal(lseek(again, 0, SEEK_SET), 0);
    assert_string_equal(read_all(again), "first\nsecond\nthird\n");
    close(again);
    unlink(path);
}

static void test_nothing(void **state)
{
    (void) state;
    close(STDERR_FILENO);
    oc_output_line("nowhere");
    restore();
    assert_true(oc_output_write(STDERR_FILENO, "", 0));
    oc_output_catch_up();
}

static void test_long_line(void **state)
{
    static char longest[2 * OC_OUTPUT_MAX];
    int ends[2];

    (void) state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    become_stderr(ends[1]);
    memset(longest, 'x', sizeof(longest) - 1);
    oc_output_line("%s", longest);
    restore();
    assert_int_equal(strlen(read_all(ends[0])), OC_OUTPUT_MAX - 1);
    assert_int_equal(text[OC_OUTPUT_MAX - 2], '\n');
    close(ends[0]);
}

static void test_throttle(void **state)
{
    oc_throttle_t throttle = {0};
    uint64_t now = 5 * OC_SECOND;
    unsigned passed = 0;

    (void) state;
    for (int i = 0; i < 100; i++) {
        passed += oc_throttle_passes(&throttle, now + (uint64_t) i);
    }
    assert_int_equal(passed, OC_THROTTLE_LINES);
    assert_true(oc_throttle_owes(&throttle));
    assert_int_equal(oc_throttle_left_out(&throttle, now + OC_SECOND), 0);
    now += OC_THROTTLE_PERIOD;
    assert_int_equal(oc_throttle_left_out(&throttle, now), 100 - OC_THROTTLE_LINES);
    assert_false(oc_throttle_owes(&throttle));
    assert_int_equal(oc_throttle_left_out(&throttle, now), 0);
    assert_true(oc_throttle_passes(&throttle, now));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_pipe_of_others),
        cmocka_unit_test(test_socket),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_throttle),
    };

    alarm(20);
    own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
