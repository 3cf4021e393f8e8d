/* SPDX-License-Identifier: MIT */
/* Classification of x86 instructions: hand-assembled vectors of every kind in every mode (Intel SDM volume 2), damage, and a
 * comparison with objdump over whole programs. */
#include <image/internal.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define IP 0x401000u

struct vector {
    const char *what;
    unsigned mode;
    const char *bytes; /* the size is that of the string literal */
    size_t size;
    unsigned kind, far, flags;
    uint64_t target;
};
#define B(s) s, sizeof s - 1

static const struct vector vectors[] = {
    /* conditional: target = ip + size + displacement */
    {"jz +5", 64, B("\x74\x05"), ASSAY_INSN_COND, 0, 0, IP + 7},
    {"jnz -2", 64, B("\x75\xfe"), ASSAY_INSN_COND, 0, 0, IP},
    {"jg rel32", 64, B("\x0f\x8f\x00\x01\x00\x00"), ASSAY_INSN_COND, 0, 0, IP + 0x106},
    {"bnd jz", 64, B("\xf2\x74\x05"), ASSAY_INSN_COND, 0, 0, IP + 8},
    {"jz with branch hint", 64, B("\x3e\x74\x05"), ASSAY_INSN_COND, 0, 0, IP + 8},
    {"loopne", 64, B("\xe0\xf0"), ASSAY_INSN_COND, 0, 0, IP - 14},
    {"loope", 32, B("\xe1\x00"), ASSAY_INSN_COND, 0, 0, IP + 2},
    {"loop", 16, B("\xe2\x10"), ASSAY_INSN_COND, 0, 0, IP + 0x12},
    {"jrcxz", 64, B("\xe3\x7f"), ASSAY_INSN_COND, 0, 0, IP + 0x81},
    {"jecxz", 64, B("\x67\xe3\x7f"), ASSAY_INSN_COND, 0, 0, IP + 0x82},
    {"jz rel16", 16, B("\x0f\x84\x10\x00"), ASSAY_INSN_COND, 0, 0, IP + 0x14},
    {"jz rel32 by prefix", 16, B("\x66\x0f\x84\x10\x00\x00\x00"), ASSAY_INSN_COND, 0, 0, IP + 0x17},
    {"jz rel16 cuts EIP", 32, B("\x66\x0f\x84\x10\x00"), ASSAY_INSN_COND, 0, 0, 0x1015},
    {"jz rel32, 66 ignored", 64, B("\x66\x0f\x84\x10\x00\x00\x00"), ASSAY_INSN_COND, 0, 0, IP + 0x17},
    /* direct */
    {"jmp short", 64, B("\xeb\x10"), ASSAY_INSN_JMP, 0, 0, IP + 0x12},
    {"jmp rel32 back", 64, B("\xe9\xfb\xff\xff\xff"), ASSAY_INSN_JMP, 0, 0, IP},
    {"jmp rel32 wraps", 32, B("\xe9\x00\x00\xff\xff"), ASSAY_INSN_JMP, 0, 0, 0x3f1005},
    {"jmp below zero", 32, B("\xe9\x00\x00\x00\x80"), ASSAY_INSN_JMP, 0, 0, 0x80401005},
    {"jmp rel16", 16, B("\xe9\xfd\xff"), ASSAY_INSN_JMP, 0, 0, IP},
    {"call rel32", 64, B("\xe8\x00\x10\x00\x00"), ASSAY_INSN_CALL, 0, 0, IP + 0x1005},
    {"call next", 64, B("\xe8\x00\x00\x00\x00"), ASSAY_INSN_CALL, 0, ASSAY_INSN_CALL_NEXT, IP + 5},
    {"call next", 32, B("\xe8\x00\x00\x00\x00"), ASSAY_INSN_CALL, 0, ASSAY_INSN_CALL_NEXT, IP + 5},
    {"data16 rex.W call (TLS)", 64, B("\x66\x66\x48\xe8\x01\x00\x00\x00"), ASSAY_INSN_CALL, 0, 0, IP + 9},
    {"bnd call", 64, B("\xf2\xe8\x10\x00\x00\x00"), ASSAY_INSN_CALL, 0, 0, IP + 0x16},
    /* indirect */
    {"jmp rax", 64, B("\xff\xe0"), ASSAY_INSN_JMP_IND, 0, 0, 0},
    {"notrack jmp rax", 64, B("\x3e\xff\xe0"), ASSAY_INSN_JMP_IND, 0, 0, 0},
    {"jmp [rip+x]", 64, B("\xff\x25\x00\x00\x00\x00"), ASSAY_INSN_JMP_IND, 0, 0, 0},
    {"jmp [eax*4+x]", 32, B("\xff\x24\x85\x00\x00\x00\x00"), ASSAY_INSN_JMP_IND, 0, 0, 0},
    {"call r11", 64, B("\x41\xff\xd3"), ASSAY_INSN_CALL_IND, 0, 0, 0},
    {"call [rbx]", 64, B("\xff\x13"), ASSAY_INSN_CALL_IND, 0, 0, 0},
    {"jmp bx", 16, B("\xff\xe3"), ASSAY_INSN_JMP_IND, 0, 0, 0},
    {"jmpabs", 64, B("\xd5\x00\xa1\x88\x77\x66\x55\x44\x33\x22\x11"), ASSAY_INSN_JMP_IND, 0, ASSAY_INSN_JMPABS,
     0x1122334455667788},
    {"ret", 64, B("\xc3"), ASSAY_INSN_RET, 0, 0, 0},
    {"ret 8", 32, B("\xc2\x08\x00"), ASSAY_INSN_RET, 0, 0, 0},
    {"rep ret", 64, B("\xf3\xc3"), ASSAY_INSN_RET, 0, 0, 0},
    /* far */
    {"syscall", 64, B("\x0f\x05"), ASSAY_INSN_FAR, ASSAY_FAR_SYSCALL, 0, 0},
    {"sysenter", 32, B("\x0f\x34"), ASSAY_INSN_FAR, ASSAY_FAR_SYSCALL, 0, 0},
    {"int 0x80", 32, B("\xcd\x80"), ASSAY_INSN_FAR, ASSAY_FAR_SYSCALL, 0, 0},
    {"int 0x21", 16, B("\xcd\x21"), ASSAY_INSN_FAR, ASSAY_FAR_SYSCALL, 0, 0},
    {"sysret", 64, B("\x48\x0f\x07"), ASSAY_INSN_FAR, ASSAY_FAR_RETURN, 0, 0},
    {"sysexit", 64, B("\x0f\x35"), ASSAY_INSN_FAR, ASSAY_FAR_RETURN, 0, 0},
    {"iretq", 64, B("\x48\xcf"), ASSAY_INSN_FAR, ASSAY_FAR_RETURN, 0, 0},
    {"iretd", 32, B("\xcf"), ASSAY_INSN_FAR, ASSAY_FAR_RETURN, 0, 0},
    {"iret", 16, B("\xcf"), ASSAY_INSN_FAR, ASSAY_FAR_RETURN, 0, 0},
    {"uiret", 64, B("\xf3\x0f\x01\xec"), ASSAY_INSN_FAR, ASSAY_FAR_RETURN, 0, 0},
    {"eretu", 64, B("\xf3\x0f\x01\xca"), ASSAY_INSN_FAR, ASSAY_FAR_RETURN, 0, 0},
    {"erets", 64, B("\xf2\x0f\x01\xca"), ASSAY_INSN_FAR, ASSAY_FAR_RETURN, 0, 0},
    {"rsm", 32, B("\x0f\xaa"), ASSAY_INSN_FAR, ASSAY_FAR_RETURN, 0, 0},
    {"vmlaunch", 64, B("\x0f\x01\xc2"), ASSAY_INSN_FAR, ASSAY_FAR_VMENTRY, 0, 0},
    {"vmresume", 64, B("\x0f\x01\xc3"), ASSAY_INSN_FAR, ASSAY_FAR_VMENTRY, 0, 0},
    {"int3", 64, B("\xcc"), ASSAY_INSN_FAR, ASSAY_FAR_OTHER, 0, 0},
    {"int1", 64, B("\xf1"), ASSAY_INSN_FAR, ASSAY_FAR_OTHER, 0, 0},
    {"into", 32, B("\xce"), ASSAY_INSN_FAR, ASSAY_FAR_OTHER, 0, 0},
    {"retf", 64, B("\x48\xcb"), ASSAY_INSN_FAR, ASSAY_FAR_OTHER, 0, 0},
    {"retf 4", 32, B("\xca\x04\x00"), ASSAY_INSN_FAR, ASSAY_FAR_OTHER, 0, 0},
    {"call far ptr", 32, B("\x9a\x78\x56\x34\x12\x33\x00"), ASSAY_INSN_FAR, ASSAY_FAR_OTHER, 0, 0},
    {"jmp far ptr", 16, B("\xea\x34\x12\x00\xf0"), ASSAY_INSN_FAR, ASSAY_FAR_OTHER, 0, 0},
    {"call far [rax]", 64, B("\x48\xff\x18"), ASSAY_INSN_FAR, ASSAY_FAR_OTHER, 0, 0},
    {"jmp far [rax]", 64, B("\xff\x28"), ASSAY_INSN_FAR, ASSAY_FAR_OTHER, 0, 0},
    /* the rest falls through, some of it with a flag */
    {"nop", 64, B("\x90"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"endbr64", 64, B("\xf3\x0f\x1e\xfa"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"push [rax]", 64, B("\xff\x30"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"inc dword [rax]", 64, B("\xff\x00"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"hlt", 64, B("\xf4"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"ud2", 64, B("\x0f\x0b"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"ud1", 64, B("\x0f\xb9\xc0"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"xbegin +16", 64, B("\xc7\xf8\x10\x00\x00\x00"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"xabort", 64, B("\xc6\xf8\x01"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"xend", 64, B("\x0f\x01\xd5"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"vmcall: its exit is an event of its own", 64, B("\x0f\x01\xc1"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"clac", 64, B("\x0f\x01\xca"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"cpuid", 64, B("\x0f\xa2"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"movsb", 64, B("\xa4"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"rep movsb", 64, B("\xf3\xa4"), ASSAY_INSN_OTHER, 0, ASSAY_INSN_REP_STRING, 0},
    {"rep stosq", 64, B("\xf3\x48\xab"), ASSAY_INSN_OTHER, 0, ASSAY_INSN_REP_STRING, 0},
    {"repne scasb", 32, B("\xf2\xae"), ASSAY_INSN_OTHER, 0, ASSAY_INSN_REP_STRING, 0},
    {"repe cmpsd", 32, B("\xf3\xa7"), ASSAY_INSN_OTHER, 0, ASSAY_INSN_REP_STRING, 0},
    {"rep outsb", 16, B("\xf3\x6e"), ASSAY_INSN_OTHER, 0, ASSAY_INSN_REP_STRING, 0},
    {"movsd xmm: no string", 64, B("\xf2\x0f\x10\x00"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"pause", 64, B("\xf3\x90"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"ptwrite eax", 64, B("\xf3\x0f\xae\xe0"), ASSAY_INSN_OTHER, 0, ASSAY_INSN_PTWRITE, 0},
    {"ptwrite [rax], 64-bit", 64, B("\xf3\x48\x0f\xae\x20"), ASSAY_INSN_OTHER, 0, ASSAY_INSN_PTWRITE, 0},
    {"mfence", 64, B("\x0f\xae\xf0"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"mov cr3, rax", 64, B("\x0f\x22\xd8"), ASSAY_INSN_OTHER, 0, ASSAY_INSN_MOV_CR3, 0},
    {"mov cr3, r8", 64, B("\x41\x0f\x22\xd8"), ASSAY_INSN_OTHER, 0, ASSAY_INSN_MOV_CR3, 0},
    {"mov rax, cr3", 64, B("\x0f\x20\xd8"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"mov cr4, rax", 64, B("\x0f\x22\xe0"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"vmptrld [rax]", 64, B("\x0f\xc7\x30"), ASSAY_INSN_OTHER, 0, ASSAY_INSN_VMPTRLD, 0},
    {"vmclear [rax]", 64, B("\x66\x0f\xc7\x30"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"rdrand eax", 64, B("\x0f\xc7\xf0"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"vzeroupper", 64, B("\xc5\xf8\x77"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"vandps", 64, B("\xc5\xf8\x54\xc0"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"dec eax, a REX prefix in 64-bit mode", 32, B("\x48"), ASSAY_INSN_OTHER, 0, 0, 0},
    {"aad, JMPABS's first byte", 32, B("\xd5\x00"), ASSAY_INSN_OTHER, 0, 0, 0},
};

static void vectors_classify(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const struct vector *v = &vectors[i];
        struct assay_insn in;
        uint8_t buf[32];
        memset(buf, 0x90, sizeof buf);
        memcpy(buf, v->bytes, v->size);
        int size = assay_x86_classify(buf, sizeof buf, v->mode, IP, &in);
        if (size != (int)v->size || in.size != v->size || in.kind != v->kind || in.far != v->far ||
            in.flags != v->flags || in.target != v->target)
            fail_msg("%s (%u): size %d kind %u far %u flags %#x target %#llx", v->what, v->mode, size, in.kind, in.far,
                     in.flags, (unsigned long long)in.target);
    }
}

static void prefixes_of_vectors_are_truncated(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const struct vector *v = &vectors[i];
        for (size_t n = 0; n < v->size; n++) {
            struct assay_insn in;
            uint8_t *exact = malloc(n + 1); /* so that a sanitizer sees a read past the end */
            memcpy(exact + 1, v->bytes, n);
            int s = assay_x86_classify(exact + 1, n, v->mode, IP, &in);
            if (s != ASSAY_E_TRUNCATED)
                fail_msg("%s cut to %zu bytes: %d", v->what, n, s);
            free(exact);
        }
    }
}

static void invalid_is_no_instruction(void **state)
{
    (void)state;
    static const struct vector bad[] = {
        {"call far ptr in 64-bit mode", 64, B("\x9a\x78\x56\x34\x12\x33\x00"), 0, 0, 0, 0},
        {"into in 64-bit mode", 64, B("\xce"), 0, 0, 0, 0},
        {"aad in 64-bit mode", 64, B("\xd5\x0a"), 0, 0, 0, 0},
        {"16 prefixes", 64, B("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66"), 0, 0, 0, 0},
        {"lock nop", 64, B("\xf0\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"), 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct assay_insn in;
        if (assay_x86_classify((const uint8_t *)bad[i].bytes, bad[i].size, bad[i].mode, IP, &in) != ASSAY_E_BAD_FORMAT)
            fail_msg("%s", bad[i].what);
    }
}

static void memory_flags(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        int flags;
    } m[] = {
        {B("\x8b\x00"), ASSAY_INSN_LOAD},                    /* mov eax, [rax] */
        {B("\x89\x00"), ASSAY_INSN_STORE},                   /* mov [rax], eax */
        {B("\xff\x00"), ASSAY_INSN_LOAD | ASSAY_INSN_STORE}, /* inc dword [rax] */
        {B("\x8d\x00"), 0},                                  /* lea eax, [rax] */
        {B("\x50"), ASSAY_INSN_STORE},                       /* push rax */
        {B("\x58"), ASSAY_INSN_LOAD},                        /* pop rax */
        {B("\xc3"), ASSAY_INSN_LOAD},                        /* ret */
        {B("\xe8\x00\x00\x00\x00"), ASSAY_INSN_STORE},       /* call */
        {B("\xa4"), ASSAY_INSN_LOAD | ASSAY_INSN_STORE},     /* movsb */
        {B("\x0f\x1f\x00"), 0},                              /* nop [rax] */
        {B("\x01\xc0"), 0},                                  /* add eax, eax */
    };
    for (size_t i = 0; i < sizeof m / sizeof m[0]; i++)
        assert_int_equal(assay_x86_memory((const uint8_t *)m[i].bytes, m[i].size, 64), m[i].flags);
    assert_int_equal(assay_x86_memory(NULL, 0, 64), ASSAY_E_TRUNCATED);
}

/* ---- objdump as a second opinion ---- */

static unsigned kind_by_mnemonic(const char *m, const char *operands)
{
    bool indirect = operands[0] == '*', far = m[0] == 'l';
    if (far && (strncmp(m, "ljmp", 4) == 0 || strncmp(m, "lcall", 5) == 0 || strncmp(m, "lret", 4) == 0))
        return ASSAY_INSN_FAR;
    if (strncmp(m, "jmp", 3) == 0)
        return indirect ? ASSAY_INSN_JMP_IND : ASSAY_INSN_JMP;
    if (m[0] == 'j' || strncmp(m, "loop", 4) == 0)
        return ASSAY_INSN_COND;
    if (strncmp(m, "call", 4) == 0)
        return indirect ? ASSAY_INSN_CALL_IND : ASSAY_INSN_CALL;
    if (strncmp(m, "ret", 3) == 0)
        return ASSAY_INSN_RET;
    if (strncmp(m, "iret", 4) == 0 || strncmp(m, "sys", 3) == 0 || strncmp(m, "int", 3) == 0)
        return ASSAY_INSN_FAR;
    return ASSAY_INSN_OTHER;
}

/* The mnemonic behind prefixes that objdump writes as words of their own. */
static char *skip_prefixes(char *text)
{
    static const char *const words[] = {"bnd ",    "notrack ", "repz ", "rep ",    "repnz ",
                                        "data16 ", "rex.W ",   "lock ", "addr32 ", "cs "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);
        if (strncmp(text, words[i], n) == 0) {
            text += n;
            while (*text == ' ')
                text++;
            i = (size_t)-1;
        }
    }
    return text;
}

static size_t parse_bytes(const char *hex, uint8_t *out)
{
    size_t n = 0;
    for (unsigned v; n < 15 && sscanf(hex + n * 3, "%2x ", &v) == 1; n++)
        out[n] = (uint8_t)v;
    return n;
}

/* "  4011a0:\t74 05 \tje     4011a7 <main+0x7>" */
static bool compare_line(char *line)
{
    unsigned long long ip, target = 0;
    uint8_t bytes[16];
    struct assay_insn in;
    char *tab = strchr(line, '\t'), *text = tab ? strchr(tab + 1, '\t') : NULL;
    if (!text || sscanf(line, " %llx:", &ip) != 1)
        return false;
    *text++ = '\0';
    text = skip_prefixes(text);
    if (strncmp(text, "(bad)", 5) == 0 || strchr("\n ", *text) || strncmp(text, "rex", 3) == 0)
        return false;
    char *operands = text + strcspn(text, " \n");
    operands += strspn(operands, " ");
    size_t size = parse_bytes(tab + 1, bytes);
    unsigned kind = kind_by_mnemonic(text, operands);
    int s = assay_x86_classify(bytes, size, 64, ip, &in);
    if (s != (int)size || in.kind != kind)
        fail_msg("%llx: %s size %d kind %u, objdump size %zu kind %u", ip, text, s, in.kind, size, kind);
    if (kind == ASSAY_INSN_COND || kind == ASSAY_INSN_JMP || kind == ASSAY_INSN_CALL) {
        assert_int_equal(sscanf(operands, "%llx", &target), 1);
        assert_int_equal(in.target, target);
    }
    return kind != ASSAY_INSN_OTHER;
}

static size_t compare_program(const char *path)
{
    char command[512], *line = NULL;
    size_t cap = 0, branches = 0;
    snprintf(command, sizeof command, "objdump -d -w -j .text '%s' 2>/dev/null", path);
    FILE *p = popen(command, "r");
    while (p && getline(&line, &cap, p) > 0)
        branches += compare_line(line);
    free(line);
    if (p)
        pclose(p);
    return branches;
}

static void objdump_agrees(void **state)
{
    (void)state;
    if (system("objdump --version >/dev/null 2>&1") != 0) {
        print_message("objdump is not installed\n");
        skip();
    }
    assert_true(compare_program("/proc/self/exe") > 100);
    print_message("%zu branches of ls agree\n", compare_program("/usr/bin/ls"));
}

/* ---- the quick way against Zydis ---- */

static void assert_same_as_zydis(const uint8_t *code, size_t size, uint64_t ip)
{
    struct assay_insn quick = {0}, zydis = {0};
    int q = assay_x86_classify(code, size, 64, ip, &quick), z = image_x86_by_zydis(code, size, 64, ip, &zydis);
    if (q != z || (q > 0 && (quick.size != zydis.size || quick.kind != zydis.kind || quick.far != zydis.far ||
                             quick.flags != zydis.flags || quick.target != zydis.target)))
        fail_msg("%02x %02x %02x %02x %02x %02x: %d kind %u, Zydis %d kind %u", code[0], code[1], code[2], code[3],
                 code[4], code[5], q, quick.kind, z, zydis.kind);
}

/* Every opcode of both maps, behind every prefix and REX, with every ModRM and SIB bases that matter. */
static void quick_way_knows_every_form(void **state)
{
    (void)state;
    static const uint8_t prefixes[] = {0, 0x66, 0xf2, 0xf3, 0xf0, 0x2e, 0x64, 0x67};
    static const uint8_t sibs[] = {0x24, 0x05, 0x45, 0xe5};
    for (unsigned form = 0; form < sizeof prefixes * 17 * 512; form++) {
        uint8_t code[24] = {0};
        unsigned n = 0, prefix = form / (17 * 512), rex = form / 512 % 17, op = form % 512;
        if (prefix)
            code[n++] = prefixes[prefix];
        if (rex)
            code[n++] = (uint8_t)(0x3f + rex);
        if (op >= 256)
            code[n++] = 0x0f;
        code[n++] = (uint8_t)op;
        for (unsigned modrm = 0; modrm < 256; modrm++) {
            code[n] = (uint8_t)modrm;
            memset(code + n + 1, 0xc3, sizeof code - n - 1);
            code[n + 1] = sibs[modrm & 3];
            assert_same_as_zydis(code, 15, IP);
        }
    }
}

/* Every byte offset of a big program, not only those where an instruction begins. */
static void quick_way_agrees_over_a_program(void **state)
{
    (void)state;
    static const char *const paths[] = {"/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6"};
    static uint8_t bytes[1 << 21];
    for (unsigned i = 0; i < 2; i++) {
        FILE *f = fopen(paths[i], "rb");
        size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
        for (size_t at = 0; at < n; at++)
            assert_same_as_zydis(bytes + at, n - at, 0xffffffffff000000 + at);
        if (f)
            fclose(f);
    }
}

static void quick_way_agrees_over_random_bytes(void **state)
{
    (void)state;
    uint64_t x = 1;
    uint8_t code[24];
    for (unsigned i = 0; i < 2000000; i++) {
        for (unsigned k = 0; k < 24; k += 8) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            memcpy(code + k, &x, 8);
        }
        assert_same_as_zydis(code, 16, x);
    }
}

/* Whatever the bytes, the answer has a sound size and reads nothing beyond the end. */
static void random_bytes(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252u;
    for (unsigned i = 0; i < 300000; i++) {
        static const unsigned modes[] = {16, 32, 64};
        struct assay_insn in;
        uint8_t b[16];
        for (unsigned k = 0; k < 16; k += 8) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            memcpy(b + k, &x, 8);
        }
        size_t n = x % 17;
        int s = assay_x86_classify(b + 16 - n, n, modes[i % 3], i, &in);
        assert_true(s == ASSAY_E_TRUNCATED || s == ASSAY_E_BAD_FORMAT || (s > 0 && (size_t)s <= n && s <= 15));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_classify),
        cmocka_unit_test(prefixes_of_vectors_are_truncated),
        cmocka_unit_test(invalid_is_no_instruction),
        cmocka_unit_test(memory_flags),
        cmocka_unit_test(objdump_agrees),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(quick_way_knows_every_form),
        cmocka_unit_test(quick_way_agrees_over_a_program),
        cmocka_unit_test(quick_way_agrees_over_random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
