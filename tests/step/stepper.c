/* SPDX-License-Identifier: MIT */
/* Runs a program under ptrace, one instruction at a time, and prints "insns chk" of what it retired: chk = chk * 31 + ip.
 * A second source of truth that shares nothing with the recorder. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* A string instruction with a REP prefix traps after every iteration, but retires once. */
static bool is_rep_string(pid_t pid, uint64_t ip)
{
    errno = 0;
    uint64_t word = (uint64_t)ptrace(PTRACE_PEEKTEXT, pid, (void *)ip, NULL);
    if (errno)
        return false;
    bool rep = false;
    for (unsigned i = 0; i < 4; i++) {
        uint8_t b = (uint8_t)(word >> 8 * i);
        if (b == 0xf2 || b == 0xf3)
            rep = true;
        else if (b != 0x66 && (b & 0xf0) != 0x40)
            return rep && ((b >= 0xa4 && b <= 0xa7) || (b >= 0xaa && b <= 0xaf) || (b >= 0x6c && b <= 0x6f));
    }
    return false;
}

struct count {
    uint64_t insns, chk;
};

/* Steps until the end. A step that ends in a signal at the same address retired nothing; a string instruction whose iterations were
 * counted as one is taken back then. */
static int step_all(pid_t pid)
{
    struct count now = {0, 0}, before = now; /* before: the instruction at `at` */
    struct user_regs_struct r;
    uint64_t at = 0;
    int status, sig = 0;
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, pid, NULL, &r) != 0)
        return 1;
    for (;;) {
        if (sig == 0 && !(r.rip == at && is_rep_string(pid, r.rip))) {
            before = now;
            now = (struct count){now.insns + 1, now.chk * 31 + r.rip};
        }
        at = sig ? 0 : r.rip; /* a step with a signal goes to its handler and no further */
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, (void *)(intptr_t)sig) != 0 || waitpid(pid, &status, 0) != pid)
            return 1;
        if (!WIFSTOPPED(status))
            break;
        if (ptrace(PTRACE_GETREGS, pid, NULL, &r) != 0)
            return 1;
        sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        if (sig && r.rip == at)
            now = before;
    }
    printf("%" PRIu64 " %016" PRIx64 "\n", now.insns, now.chk);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s PROGRAM [ARGS]\n", argv[0]);
        return 2;
    }
    pid_t pid = fork();
    if (pid == 0) {
        personality(ADDR_NO_RANDOMIZE);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    int failed = pid < 0 ? 1 : step_all(pid);
    if (failed)
        fprintf(stderr, "stepper: %s\n", strerror(errno));
    return failed;
}
