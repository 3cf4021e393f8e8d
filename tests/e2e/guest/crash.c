/* SPDX-License-Identifier: MIT */
/* Ends as its argument says: segv (in the middle of a block), call (of an address without code), abort, ill, kill, term, exit
 * (from a second thread, others running), nested (a handler that faults). */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile unsigned spinning;

static void *spin(void *arg)
{
    volatile unsigned n = 0;
    for (;;)
        if (n++ == 1000)
            __atomic_fetch_add(&spinning, 1, __ATOMIC_SEQ_CST);
    return arg;
}

static void *leave(void *arg)
{
    while (__atomic_load_n(&spinning, __ATOMIC_SEQ_CST) < 2)
        ;
    exit(*(int *)arg);
}

static void fault(int sig)
{
    volatile int a = sig, *bad = (volatile int *)(uintptr_t)16;
    a += 1;
    *bad = a;
}

static int segv(int n)
{
    volatile int before = n * 3, *bad = (volatile int *)(uintptr_t)8;
    before += 4;
    before += *bad;
    return before;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    static int status = 7;
    pthread_t t;
    setvbuf(stdout, NULL, _IONBF, 0);
    printf("ends by %s\n", how);
    if (!strcmp(how, "segv"))
        return segv(argc);
    if (!strcmp(how, "call"))
        ((void (*)(void))(uintptr_t)0x1000)();
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "ill"))
        __asm__ volatile("ud2");
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(how, "term"))
        raise(SIGTERM);
    if (!strcmp(how, "nested")) {
        signal(SIGUSR1, fault);
        raise(SIGUSR1);
    }
    if (!strcmp(how, "exit")) {
        for (int i = 0; i < 2; i++)
            pthread_create(&t, NULL, spin, NULL);
        pthread_create(&t, NULL, leave, &status);
        pthread_join(t, NULL);
    }
    return 0;
}
