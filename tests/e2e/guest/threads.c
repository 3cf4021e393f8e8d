/* SPDX-License-Identifier: MIT */
/* Four threads with a lock, a barrier, atomic operations (a 16-byte one too, which QEMU may have to repeat alone), and lives
 * that end early so that new threads take their places. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static long counter, atomic;
static struct {
    uint64_t low, high;
} __attribute__((aligned(16))) pair;

static void add_pair(void)
{
#ifdef __x86_64__
    uint64_t low = 0, high = 0;
    unsigned char done;
    do {
        uint64_t new_low = low + 1, new_high = high + 2;
        __asm__ volatile("lock cmpxchg16b %1; sete %0"
                         : "=q"(done), "+m"(pair), "+a"(low), "+d"(high)
                         : "b"(new_low), "c"(new_high)
                         : "memory");
    } while (!done);
#endif
}

static unsigned collatz(unsigned n)
{
    unsigned steps = 0;
    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

static void *work(void *arg)
{
    unsigned sum = 0;
    for (unsigned i = 1; i < 2000; i++) {
        sum += collatz(i + (unsigned)(uintptr_t)arg);
        if (i % 16 == 0) {
            pthread_mutex_lock(&lock);
            counter++;
            pthread_mutex_unlock(&lock);
            __atomic_fetch_add(&atomic, 1, __ATOMIC_SEQ_CST);
            add_pair();
        }
    }
    pthread_barrier_wait(&barrier);
    return (void *)(uintptr_t)sum;
}

static void *short_life(void *arg) { return arg; }

int main(void)
{
    pthread_t thread[4];
    pthread_barrier_init(&barrier, NULL, 4);
    for (uintptr_t i = 0; i < 6; i++) {
        pthread_create(&thread[0], NULL, short_life, (void *)i);
        pthread_join(thread[0], NULL);
    }
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, work, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    printf("%ld %ld %llu %llu\n", counter, atomic, (unsigned long long)pair.low, (unsigned long long)pair.high);
    return 0;
}
