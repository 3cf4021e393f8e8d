/* SPDX-License-Identifier: MIT */
/* Processes that execute the same instructions however they are scheduled: children, a child of a child, exec that fails and exec
 * that does not. No threads: whether pthread_join() has to wait is a matter of luck. */
#include <sys/wait.h>
#include <unistd.h>

static int work(int n)
{
    volatile int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += i % n;
    return sum;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

static void child(int n)
{
    pid_t grandchild = fork();
    if (grandchild == 0)
        _exit(work(n) % 11);
    _exit(wait_for(grandchild) + 1);
}

static int become_another(void)
{
    pid_t pid = vfork();
    if (pid == 0) {
        execl("/no/such/program", "none", (char *)NULL);
        execl("/bin/true", "true", (char *)NULL);
        _exit(9);
    }
    return wait_for(pid);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0)
            child(3 + i);
        sum += wait_for(pid) + work(7);
    }
    return (sum + become_another()) % 7;
}
