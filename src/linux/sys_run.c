/* SPDX-License-Identifier: MIT */
/* Runs a program for what it prints, with an end to patience. */
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 5000 };

extern char **environ;

static int start(const char *program, const char *argument, int out, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    char *argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)argument, NULL};
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    failed = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(&actions, out, 1);
    failed = failed ? failed : posix_spawn_file_actions_adddup2(&actions, out, 2);
    failed = failed ? failed : posix_spawn(pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads to the end of the output, keeping its begin. false: patience ran out. */
static bool listen_to(int in, char *output, size_t size)
{
    char more[512];
    size_t have = 0;
    int64_t end = now_ms() + PATIENCE_MS;
    for (;;) {
        struct pollfd p = {.fd = in, .events = POLLIN};
        int64_t left = end - now_ms();
        if (left <= 0 || poll(&p, 1, (int)left) == 0)
            return false;
        bool keep = have < size - 1;
        ssize_t n = read(in, keep ? output + have : more, keep ? size - 1 - have : sizeof more);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return true;
        if (keep)
            have += (size_t)n;
        output[have] = '\0';
    }
}

int sys_run(const char *program, const char *argument, char *output, size_t size)
{
    int ends[2];
    pid_t pid;
    *output = '\0';
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    int failed = start(program, argument, ends[1], &pid);
    close(ends[1]);
    if (!failed) {
        int status = 0;
        if (!listen_to(ends[0], output, size))
            kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        failed = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : ECHILD;
    }
    close(ends[0]);
    return -failed;
}
