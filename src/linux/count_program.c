/* SPDX-License-Identifier: MIT */
/* A program that waits at a socket until counters are on it, and tells through it why it could not be executed. */
#include <assay/count.h>

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static ssize_t read_all(int fd, void *buf, size_t size)
{
    ssize_t n;
    do
        n = read(fd, buf, size);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Without a word from the parent it is gone, or does not want the program. The socket closes on exec. */
static void wait_and_run(char *const *argv, int parent)
{
    char word;
    if (read_all(parent, &word, 1) != 1)
        _exit(127);
    execvp(argv[0], argv);
    int error = errno;
    if (send(parent, &error, sizeof error, MSG_NOSIGNAL) < 0)
        _exit(126);
    _exit(127);
}

int assay_count_prepare(char *const *argv, struct assay_count_program *p, struct assay_error *e)
{
    int ends[2] = {-1, -1};
    *p = (struct assay_count_program){-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
        p->pid = fork();
    int error = errno;
    if (p->pid == 0) {
        close(ends[0]);
        wait_and_run(argv, ends[1]);
    }
    close_end(&ends[1]);
    p->child = ends[0];
    if (p->pid > 0)
        return ASSAY_OK;
    close_end(&p->child);
    return assay_error_sys(e, error, "%s: cannot be started", argv[0]);
}

static void reap(struct assay_count_program *p)
{
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    p->pid = -1;
}

/* Someone else's signal may have ended the child meanwhile: then there is no answer, and the caller sees how it
 * ended. */
int assay_count_start(struct assay_count_program *p, char *const *argv, struct assay_error *e)
{
    int error = 0;
    ssize_t n = send(p->child, "", 1, MSG_NOSIGNAL) == 1 ? read_all(p->child, &error, sizeof error) : 0;
    close_end(&p->child);
    if (n != (ssize_t)sizeof error)
        return ASSAY_OK;
    reap(p);
    if (error == ENOENT)
        return assay_error_set(e, ASSAY_E_NOT_FOUND, UINT64_MAX, "%s: program not found", argv[0]);
    return assay_error_sys(e, error, "%s: cannot be run", argv[0]);
}

void assay_count_drop(struct assay_count_program *p)
{
    close_end(&p->child);
    if (p->pid > 0)
        reap(p);
}
