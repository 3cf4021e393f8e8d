/* SPDX-License-Identifier: MIT */
/* System calls: the thread leaves user code; some of them change what is where, or end the thread. */
#include "plugin.h"
#include "qemu_api.h"

#include <string.h>
#include <sys/prctl.h>

const struct guest guests[] = {
    {.name = "x86_64",
     .mode = 64,
     .exit = 60,
     .exit_group = 231,
     .execve = 59,
     .execveat = 322,
     .rt_sigaction = 13,
     .sigaction = -1,
     .mmap = 9,
     .mmap2 = -1,
     .munmap = 11,
     .mremap = 25,
     .prctl = 157},
    {.name = "i386",
     .mode = 32,
     .exit = 1,
     .exit_group = 252,
     .execve = 11,
     .execveat = 358,
     .rt_sigaction = 174,
     .sigaction = 67,
     .mmap = 90,
     .mmap2 = 192,
     .munmap = 91,
     .mremap = 163,
     .prctl = 172},
    {.name = NULL},
};

static void tell_exec(const struct thread *t, uint64_t path_at)
{
    char path[4096];
    size_t n = 0;
    while (n < sizeof path - 1 && guest_read(path_at + n, path + n, 1) && path[n])
        n++;
    path[n] = '\0';
    event_put(ASSAY_SPOOL_EXEC, t->s.tid, t->s.unit.cycles, path, n + 1, NULL, 0);
}

static void leave_user_code(struct thread *t)
{
    struct regs r = {0};
    if (t->prev->kind == BLOCK_FAR || t->prev->kind == BLOCK_OUTSIDE) {
        exec_retire(t, t->prev->next);
    } else if (regs_read(t, &r)) { /* a call into the vsyscall page, whose code QEMU does not run */
        exec_retire(t, r.ip);
        assay_pt_unit_async_leave(&t->s.unit, r.ip);
    }
}

void syscall_enter(uint64_t id, unsigned vcpu, int64_t num, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
                   uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)a7, (void)a8;
    const struct guest *g = process.guest;
    struct thread *t = thread_of[vcpu % THREADS];
    if (t == &unborn)
        return;
    leave_user_code(t);
    clock_publish(t);
    t->call = num;
    memcpy(t->arg, (uint64_t[]){a1, a2, a3, a4, a5, a6}, sizeof t->arg);
    if (num == g->exit || num == g->exit_group) {
        event_put(ASSAY_SPOOL_EXIT, t->s.tid, t->s.unit.cycles, NULL, 0, NULL, 0);
        thread_end(t, vcpu);
    } else if (num == g->execve || num == g->execveat) {
        tell_exec(t, num == g->execve ? a1 : a2);
    }
}

static void tell_name(const struct thread *t)
{
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    event_put(ASSAY_SPOOL_COMM, t->s.tid, t->s.unit.cycles, name, strlen(name) + 1, NULL, 0);
}

static void note_success(struct thread *t, int64_t num, uint64_t ret)
{
    const struct guest *g = process.guest;
    const uint64_t *a = t->arg;
    uint8_t args[8];
    if (num == g->rt_sigaction || num == g->sigaction) {
        signal_action(t, num == g->rt_sigaction);
    } else if (num == g->mmap && g->mode == 32) { /* takes its arguments in memory */
        if (guest_read(a[0], args, sizeof args))
            code_dropped(ret, (uint64_t)args[4] | (uint64_t)args[5] << 8 | (uint64_t)args[6] << 16 |
                                  (uint64_t)args[7] << 24);
    } else if (num == g->mmap || num == g->mmap2) {
        code_dropped(ret, a[1]);
    } else if (num == g->munmap) {
        code_dropped(a[0], a[1]);
    } else if (num == g->mremap) {
        code_dropped(a[0], a[1]);
        code_dropped(ret, a[2]);
    } else if (num == g->prctl && a[0] == PR_SET_NAME) {
        tell_name(t);
    }
}

void syscall_leave(uint64_t id, unsigned vcpu, int64_t num, int64_t ret)
{
    (void)id;
    struct thread *t = thread_of[vcpu % THREADS];
    if (t == &unborn || num != t->call)
        return;
    uint64_t now = clock_furthest();
    if (now > t->s.unit.cycles) { /* it waited */
        t->s.waited += now - t->s.unit.cycles;
        t->s.unit.cycles = now;
        t->jumped = true;
    }
    bool failed = ret < 0 && ret >= -4096;
    if (!failed)
        note_success(t, num, process.guest->mode == 32 ? (uint32_t)ret : (uint64_t)ret);
    else if (num == process.guest->execve || num == process.guest->execveat)
        event_put(ASSAY_SPOOL_EXEC, t->s.tid, t->s.unit.cycles, "", 1, NULL, 0);
}
