/* SPDX-License-Identifier: MIT */
/* fork, vfork, a child of a child, exec that fails and exec that does not, a thread that forks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int work(int n)
{
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += i % n;
    return sum;
}

static void *fork_in_thread(void *arg)
{
    int status;
    pid_t p = fork();
    if (p == 0)
        _exit(work(5) % 7);
    waitpid(p, &status, 0);
    return arg;
}

int main(void)
{
    int status, sum = 0;
    pthread_t t;
    for (int i = 0; i < 3; i++) {
        pid_t p = fork();
        if (p == 0) {
            pid_t q = fork();
            if (q == 0)
                _exit(work(3 + i) % 11);
            waitpid(q, &status, 0);
            _exit(WEXITSTATUS(status) + 1);
        }
        sum += work(7);
        waitpid(p, &status, 0);
        sum += WEXITSTATUS(status);
    }
    pid_t v = vfork();
    if (v == 0) {
        execl("/no/such/program", "none", (char *)NULL);
        execl("/bin/true", "true", (char *)NULL);
        _exit(9);
    }
    waitpid(v, &status, 0);
    pthread_create(&t, NULL, fork_in_thread, NULL);
    pthread_join(t, NULL);
    printf("%d %d\n", sum, WEXITSTATUS(status));
    return 0;
}
