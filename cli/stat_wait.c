/* SPDX-License-Identifier: MIT */
/* Waits for the end of a program, a signal, or a point in time. */
#include "stat_live.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GLANCE_MS = 100, PATIENCE_MS = 1000 };
static const uint64_t ms = 1000000;

uint64_t stat_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void waited_for(sigset_t *set)
{
    static const int caught[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction now;
    sigemptyset(set);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        if (caught[i] == SIGCHLD || (sigaction(caught[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN))
            sigaddset(set, caught[i]);
}

void stat_wait_begin(sigset_t *before)
{
    sigset_t set;
    struct sigaction a = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &a, NULL); /* ignored, the program would leave no status behind */
    waited_for(&set);
    sigprocmask(SIG_BLOCK, &set, before);
}

/* What came while the result was on its way is over. After an interruption the same signal may come again (timeout(1) sends
 * it to us and to the group), and is not to take the result away: it stays blocked, for this was the last run. */
void stat_wait_end(const sigset_t *before, const struct stat_wait *w)
{
    sigset_t set;
    struct timespec none = {0, 0};
    waited_for(&set);
    while (sigtimedwait(&set, NULL, &none) > 0)
        ;
    if (!w->interrupted)
        sigprocmask(SIG_SETMASK, before, NULL);
}

/* ---- the program ---- */

static uint64_t ns_of(struct timeval t) { return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u; }

static bool has_ended(struct stat_wait *w)
{
    struct rusage used;
    if (w->program && wait4(w->program, &w->status, WNOHANG, &used) == w->program) {
        w->ended = true;
        w->user_ns = ns_of(used.ru_utime);
        w->system_ns = ns_of(used.ru_stime);
        return true;
    }
    for (size_t i = 0; i < w->tasks; i++)
        if (kill(w->task[i], 0) == 0 || errno != ESRCH)
            return false;
    return !w->program && w->tasks;
}

/* The next of the times at which something is to be done, UINT64_MAX when there is none. */
struct times {
    uint64_t interval, delay, timeout, patience;
};

static uint64_t later(uint64_t start, uint64_t after_ms) { return after_ms ? start + after_ms * ms : UINT64_MAX; }

static uint64_t earliest(const struct times *t)
{
    uint64_t a = t->interval < t->delay ? t->interval : t->delay,
             b = t->timeout < t->patience ? t->timeout : t->patience;
    return a < b ? a : b;
}

/* ^C at a terminal goes to the program by itself; what another process sent to us alone is passed on. */
static void interrupt(struct stat_wait *w, struct times *t, int sig, const siginfo_t *info)
{
    w->interrupted = true;
    w->over = !w->program;
    if (w->over)
        return;
    if (!info || info->si_code == SI_USER || info->si_code == SI_QUEUE)
        kill(w->program, sig);
    t->timeout = UINT64_MAX;
    t->patience = stat_now() + PATIENCE_MS * ms;
}

static int do_what_is_due(struct stat_wait *w, struct times *t, bool *asked)
{
    uint64_t now = stat_now();
    int status = CLI_OK;
    if (now >= t->delay) {
        t->delay = UINT64_MAX;
        status = w->enable(w->ctx);
        w->start_ns = stat_now();
        t->interval = later(w->start_ns, w->interval_ms);
        t->timeout = later(w->start_ns, w->timeout_ms);
    }
    if (status == CLI_OK && now >= t->interval) {
        status = w->interval(w->ctx);
        t->interval += ((now - t->interval) / (w->interval_ms * ms) + 1) * w->interval_ms * ms; /* late ones are one */
    }
    if (now >= t->timeout && w->program)
        interrupt(w, t, SIGTERM, NULL);
    else if (now >= t->timeout)
        w->over = true;
    if (now >= t->patience) {
        w->left = *asked;
        kill(w->program, SIGTERM);
        *asked = true;
        t->patience = now + PATIENCE_MS * ms;
    }
    return status;
}

static int wait_for_signal(uint64_t until, bool glance, siginfo_t *info)
{
    sigset_t set;
    uint64_t now = stat_now(), left = until > now ? until - now : 0;
    waited_for(&set);
    if (glance && left > GLANCE_MS * ms)
        left = GLANCE_MS * ms;
    struct timespec t = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    return until == UINT64_MAX && !glance ? sigwaitinfo(&set, info) : sigtimedwait(&set, info, &t);
}

int stat_wait(struct stat_wait *w)
{
    struct times t = {UINT64_MAX, later(w->start_ns, w->delay_ms), UINT64_MAX, UINT64_MAX};
    bool asked = false;
    int status = CLI_OK;
    if (!w->delay_ms) {
        t.interval = later(w->start_ns, w->interval_ms);
        t.timeout = later(w->start_ns, w->timeout_ms);
    }
    while (status == CLI_OK && !has_ended(w) && !w->left && !w->over) {
        siginfo_t info;
        int sig = wait_for_signal(earliest(&t), !w->program && w->tasks, &info);
        if (sig > 0 && sig != SIGCHLD)
            interrupt(w, &t, sig, &info);
        status = do_what_is_due(w, &t, &asked);
    }
    w->end_ns = stat_now();
    return status;
}
