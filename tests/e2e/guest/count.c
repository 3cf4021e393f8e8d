/* SPDX-License-Identifier: MIT */
/* Does a known number of countable things; what the kernel itself accounts of it is printed as "switches user_us system_us". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One page fault each: none of these pages is there, and none comes with its neighbours. */
static void touch(size_t pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || madvise(p, pages * page, MADV_NOHUGEPAGE) != 0)
        exit(9);
    for (size_t i = 0; i < pages; i++)
        *(volatile char *)(p + i * page) = 1;
}

static void burn(long ms)
{
    struct timespec t;
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

static void nap(long n)
{
    const struct timespec t = {0, 1000000};
    for (long i = 0; i < n; i++)
        nanosleep(&t, NULL);
}

static void call(long n)
{
    for (long i = 0; i < n; i++)
        syscall(SYS_getppid);
}

static void fork_and_touch(size_t pages)
{
    pid_t pid = fork();
    if (pid == 0) {
        touch(pages);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    struct rusage u;
    long n = argc > 2 ? atol(argv[2]) : 0;
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "touch") == 0)
        touch((size_t)n);
    else if (strcmp(what, "fork") == 0)
        fork_and_touch((size_t)n);
    else if (strcmp(what, "burn") == 0)
        burn(n);
    else if (strcmp(what, "nap") == 0)
        nap(n);
    else if (strcmp(what, "call") == 0)
        call(n);
    getrusage(RUSAGE_SELF, &u);
    printf("%ld %ld %ld\n", u.ru_nvcsw + u.ru_nivcsw, (long)u.ru_utime.tv_sec * 1000000 + u.ru_utime.tv_usec,
           (long)u.ru_stime.tv_sec * 1000000 + u.ru_stime.tv_usec);
    return 0;
}
