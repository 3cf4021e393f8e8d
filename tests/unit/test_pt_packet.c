/* SPDX-License-Identifier: MIT */
/* Every packet from bytes worked out by hand from the layouts, to its fields, and back to the same bytes. */
#include <assay/pt.h>
#include <assay/text.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Bytes in hex; what the JSON says after offset, size and packet name, with ' for ". */
struct vector {
    const char *hex, *name, *fields;
    uint8_t block_item;
    bool lenient; /* the bytes have reserved bits set that encoding does not bring back */
};

static const struct vector vectors[] = {
    {"00", "PAD", "", 0, false},
    /* stop bit, then branches; the oldest is the highest */
    {"04", "TNT", "'branches':'N','count':1", 0, false},
    {"06", "TNT", "'branches':'T','count':1", 0, false},
    {"16", "TNT", "'branches':'NTT','count':3", 0, false},
    {"a4", "TNT", "'branches':'NTNNTN','count':6", 0, false},
    {"80", "TNT", "'branches':'NNNNNN','count':6", 0, false},
    {"fe", "TNT", "'branches':'TTTTTT','count':6", 0, false},
    {"02a3020000000000", "TNT64", "'branches':'N','count':1", 0, false},
    {"02a3050000000000", "TNT64", "'branches':'NT','count':2", 0, false},
    {"02a3010000000080", "TNT64", "'branches':'NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNT','count':47", 0, false},
    {"0d", "TIP", "'ip':null,'ipbytes':0,'payload':null", 0, false},
    {"2d3412", "TIP", "'ip':null,'ipbytes':1,'payload':'0x1234'", 0, false},
    {"5178563412", "TIP.PGE", "'ip':null,'ipbytes':2,'payload':'0x12345678'", 0, false},
    {"61bc9a78563412", "TIP.PGD", "'ip':null,'ipbytes':3,'payload':'0x123456789abc'", 0, false},
    {"9dbc9a78563412", "FUP", "'ip':null,'ipbytes':4,'payload':'0x123456789abc'", 0, false},
    {"ddf0debc9a78563412", "FUP", "'ip':null,'ipbytes':6,'payload':'0x123456789abcdef0'", 0, false},
    {"01", "TIP.PGD", "'ip':null,'ipbytes':0,'payload':null", 0, false},
    /* payload 0x000000246901: NR is bit 0, the rest 0x123480 << 5 */
    {"0243016924000000", "PIP", "'cr3':'0x2469000','nr':true", 0, false},
    {"0243feffffffffff", "PIP", "'cr3':'0xfffffffffffe0','nr':false", 0, false},
    {"9900", "MODE.Exec", "'mode':16,'cs_l':false,'cs_d':false,'if':false", 0, false},
    {"9901", "MODE.Exec", "'mode':64,'cs_l':true,'cs_d':false,'if':false", 0, false},
    {"9906", "MODE.Exec", "'mode':32,'cs_l':false,'cs_d':true,'if':true", 0, false},
    {"9919", "MODE.Exec", "'mode':64,'cs_l':true,'cs_d':false,'if':false", 0, true},
    {"9920", "MODE.TSX", "'in_tx':false,'abort':false", 0, false},
    {"9921", "MODE.TSX", "'in_tx':true,'abort':false", 0, false},
    {"9922", "MODE.TSX", "'in_tx':false,'abort':true", 0, false},
    {"0283", "TraceStop", "", 0, false},
    {"02031800", "CBR", "'ratio':24,'reserved':0", 0, false},
    {"0203ff07", "CBR", "'ratio':255,'reserved':7", 0, false},
    {"1907060504030201", "TSC", "'tsc':283686952306183", 0, false},     /* 0x01020304050607 */
    {"19ffffffffffffff", "TSC", "'tsc':'72057594037927935'", 0, false}, /* 2^56 - 1, beyond 2^53 */
    {"59ff", "MTC", "'ctc':255", 0, false},
    {"0273353f00ff01", "TMA", "'ctc':16181,'fc':511", 0, false}, /* 0x3f35 */
    {"02730100000200", "TMA", "'ctc':1,'fc':2", 0, false},
    {"02c8bc9a785634", "VMCS", "'base':'0x3456789abc000'", 0, false},
    {"02f3", "OVF", "", 0, false},
    {"02820282028202820282028202820282", "PSB", "", 0, false},
    {"0223", "PSBEND", "", 0, false},
    {"02c388f0debc9a78563412", "MNT", "'payload':'0x123456789abcdef0'", 0, false},
    {"0262", "EXSTOP", "'ip':false", 0, false},
    {"02e2", "EXSTOP", "'ip':true", 0, false},
    {"02c2785634120100ff80", "MWAIT", "'hints':'0x12345678','ext':'0x80ff0001'", 0, false},
    /* 16 bits from byte 2: state 15:12, sub-state 11:8, HW in bit 7 or bit 3 */
    {"02220863", "PWRE", "'state':6,'sub_state':3,'hw':true", 0, false},
    {"02228063", "PWRE", "'state':6,'sub_state':3,'hw':true", 0, true},
    {"02220063", "PWRE", "'state':6,'sub_state':3,'hw':false", 0, false},
    {"02a24201000000", "PWRX", "'deepest':2,'last':4,'wake':'0x1'", 0, false},
    {"02a2f30c000000", "PWRX", "'deepest':3,'last':15,'wake':'0xc'", 0, false},
    {"021278563412", "PTW", "'ip':false,'payload':'0x12345678','bytes':4", 0, false},
    {"0292ffffffff", "PTW", "'ip':true,'payload':'0xffffffff','bytes':4", 0, false},
    {"0232f0debc9a78563412", "PTW", "'ip':false,'payload':'0x123456789abcdef0','bytes':8", 0, false},
    {"02b2f0debc9a78563412", "PTW", "'ip':true,'payload':'0x123456789abcdef0','bytes':8", 0, false},
    {"021301ec", "CFE", "'type':1,'event':'INTR','vector':236,'ip':false", 0, false},
    {"02138f00", "CFE", "'type':15,'event':'SYSCALL','vector':0,'ip':true", 0, false},
    {"02130a00", "CFE", "'type':10,'event':'SHUTDOWN','vector':0,'ip':false", 0, false},
    {"02130c20", "CFE", "'type':12,'event':'UINTR','vector':32,'ip':false", 0, false},
    {"02131f00", "CFE", "'type':31,'event':null,'vector':0,'ip':false", 0, false},
    {"025300f0debc9a78563412", "EVD", "'type':0,'event':'CR2','payload':'0x123456789abcdef0'", 0, false},
    {"0253020100000000000080", "EVD", "'type':2,'event':'VMXR','payload':'0x8000000000000001'", 0, false},
    {"02533f0000000000000000", "EVD", "'type':63,'event':null,'payload':'0x0'", 0, false},
    {"026304", "BBP", "'type':4,'bytes':8", 0, false},
    {"026381", "BBP", "'type':1,'bytes':4", 0, false},
    {"0233", "BEP", "'ip':false", 0, false},
    {"02b3", "BEP", "'ip':true", 0, false},
    {"0c78563412", "BIP", "'id':1,'value':'0x12345678','bytes':4", 4, false},
    {"fcf0debc9a78563412", "BIP", "'id':31,'value':'0x123456789abcdef0','bytes':8", 8, false},
    {"06", "TNT", "'branches':'T','count':1", 8, false}, /* in a block, but not 100b */
    {"d90081", "TRIG", "'trbv':'0x81','ip':false,'icntv':false,'mult':false,'icnt':null", 0, false},
    {"d9a001", "TRIG", "'trbv':'0x1','ip':true,'icntv':false,'mult':true,'icnt':null", 0, false},
    {"d940013412", "TRIG", "'trbv':'0x1','ip':false,'icntv':true,'mult':false,'icnt':4660", 0, false},
    /* CYC: 5 bits, then 7 more while Exp is set */
    {"03", "CYC", "'cycles':0", 0, false},
    {"fb", "CYC", "'cycles':31", 0, false},
    {"0702", "CYC", "'cycles':32", 0, false},
    {"fffe", "CYC", "'cycles':4095", 0, false},
    {"070102", "CYC", "'cycles':4096", 0, false},
    {"fffffe", "CYC", "'cycles':524287", 0, false}, /* 2^19 - 1 */
    {"07010102", "CYC", "'cycles':524288", 0, false},
    {"ffffffffffffffffff0e", "CYC", "'cycles':'18446744073709551615'", 0, false},
    {"07010101010101010108", "CYC", "'cycles':'9223372036854775808'", 0, false},
    {"fffffffffffffffffe", "CYC", "'cycles':'2305843009213693951'", 0, false}, /* 2^61 - 1: nine bytes */
    {"0f00", "CYC", "'cycles':1", 0, true},                                    /* longer than it need be */
};

/* Bytes that are no packet, and the reason. */
static const struct {
    const char *hex, *why;
} refused[] = {
    {"05", "unknown opcode"},
    {"09", "unknown opcode"},
    {"15", "unknown opcode"},
    {"3900000000000000", "unknown opcode"},
    {"f900000000000000", "unknown opcode"},
    {"ad00000000000000", "reserved IPBytes value"},
    {"ed00000000000000", "reserved IPBytes value"},
    {"b100000000000000", "reserved IPBytes value"},
    {"e100000000000000", "reserved IPBytes value"},
    {"fd00000000000000", "reserved IPBytes value"},
    {"0200", "unknown extended opcode"},
    {"02c3890000000000000000", "unknown extended opcode"},
    {"025200000000000000000000", "reserved PTW operand size"},
    {"02f200000000000000000000", "reserved PTW operand size"},
    {"9903", "reserved bits or value"},
    {"9923", "reserved bits or value"},
    {"9940", "reserved MODE leaf"},
    {"99e0", "reserved MODE leaf"},
    {"02a3000000000000", "TNT without a branch"},
    {"02a3010000000000", "TNT without a branch"},
    {"02730000010000", "reserved bits or value"},
    {"02730000000002", "reserved bits or value"},
    {"02820282028202820282028202820283", "broken PSB"},
    {"028202820383", "broken PSB"},
    {"ffffffffffffffffff10", "CYC of more than 64 bits"},
    {"0701010101010101010100", "CYC of more than 64 bits"}, /* an eleventh byte, though it adds nothing */
    {"07010101010101010109", "CYC of more than 64 bits"},
};

static size_t from_hex(const char *hex, uint8_t *bytes)
{
    size_t n = strlen(hex) / 2;
    for (size_t i = 0; i < n; i++) {
        char pair[3] = {hex[2 * i], hex[2 * i + 1], 0};
        bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return n;
}

static void json_of(const struct assay_pt_packet *p, char *text, size_t size)
{
    struct assay_out o;
    struct assay_json j;
    assay_out_init(&o, text, size - 1, NULL, NULL);
    assay_json_init(&j, &o);
    assay_pt_print_json(p, &j);
    text[o.len] = '\0';
}

static void expected_json(const struct vector *v, size_t size, char *text, size_t room)
{
    int n = snprintf(text, room, "{'offset':0,'size':%zu,'packet':'%s'%s%s}\n", size, v->name, *v->fields ? "," : "",
                     v->fields);
    for (int i = 0; i < n; i++)
        if (text[i] == '\'')
            text[i] = '"';
}

static void every_packet_decodes_to_its_fields(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint8_t bytes[32] = {0};
        char got[512], want[512];
        struct assay_pt_packet p;
        size_t n = from_hex(vectors[i].hex, bytes);
        assert_int_equal(assay_pt_decode(bytes, n, vectors[i].block_item, &p, NULL), n);
        assert_int_equal(assay_pt_decode(bytes, sizeof bytes, vectors[i].block_item, &p, NULL), n);
        json_of(&p, got, sizeof got);
        expected_json(&vectors[i], n, want, sizeof want);
        assert_string_equal(got, want);
    }
}

static void every_packet_encodes_to_its_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint8_t bytes[32], again[ASSAY_PT_MAX_PACKET];
        struct assay_pt_packet p;
        size_t n = from_hex(vectors[i].hex, bytes);
        assert_int_equal(assay_pt_decode(bytes, n, vectors[i].block_item, &p, NULL), n);
        if (vectors[i].lenient)
            continue;
        assert_int_equal(assay_pt_encode(&p, again), n);
        assert_memory_equal(again, bytes, n);
    }
}

static void an_incomplete_packet_is_truncated(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint8_t bytes[32];
        struct assay_pt_packet p;
        const char *why = NULL;
        size_t n = from_hex(vectors[i].hex, bytes);
        for (size_t have = 0; have < n; have++) {
            assert_int_equal(assay_pt_decode(bytes, have, vectors[i].block_item, &p, &why), ASSAY_E_TRUNCATED);
            assert_non_null(why);
        }
    }
}

static void reserved_values_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        uint8_t bytes[32];
        struct assay_pt_packet p;
        const char *why = NULL;
        size_t n = from_hex(refused[i].hex, bytes);
        assert_int_equal(assay_pt_decode(bytes, n, 0, &p, &why), ASSAY_E_BAD_PACKET);
        assert_string_equal(why, refused[i].why);
    }
}

/* What byte 0 begins, told by ranges and masks as the manual's opcode list does. */
static int type_of_first(unsigned b)
{
    static const uint8_t by_low5[32] = {
        [0x01] = ASSAY_PT_TIP_PGD, [0x0d] = ASSAY_PT_TIP, [0x11] = ASSAY_PT_TIP_PGE, [0x1d] = ASSAY_PT_FUP};
    if (b == 0)
        return ASSAY_PT_PAD;
    if (b % 2 == 0)
        return ASSAY_PT_TNT;
    if (b % 4 == 3)
        return ASSAY_PT_CYC;
    if (by_low5[b & 31])
        return b >> 5 == 5 || b >> 5 == 7 ? -1 : by_low5[b & 31];
    return b == 0x19   ? ASSAY_PT_TSC
           : b == 0x59 ? ASSAY_PT_MTC
           : b == 0x99 ? ASSAY_PT_MODE_EXEC
           : b == 0xd9 ? ASSAY_PT_TRIG
                       : -1;
}

static void every_first_byte_has_its_packet(void **state)
{
    (void)state;
    for (unsigned b = 0; b < 256; b++) {
        uint8_t bytes[16] = {(uint8_t)b};
        struct assay_pt_packet p;
        if (b == 0x02)
            continue;
        int n = assay_pt_decode(bytes, sizeof bytes, 0, &p, NULL);
        assert_int_equal(n > 0 ? p.type : -1, type_of_first(b));
    }
}

static void only_the_known_extended_opcodes_are_packets(void **state)
{
    (void)state;
    static const uint8_t known[] = {0x23, 0xf3, 0x83, 0x43, 0x03, 0x73, 0xc8, 0x62, 0xe2, 0xc2, 0x22,
                                    0xa2, 0x12, 0x32, 0x92, 0xb2, 0x13, 0x53, 0x63, 0x33, 0xb3};
    for (unsigned b = 0; b < 256; b++) { /* TNT64, PSB and MNT take more than zeros */
        uint8_t bytes[16] = {0x02, (uint8_t)b};
        struct assay_pt_packet p;
        int n = assay_pt_decode(bytes, sizeof bytes, 0, &p, NULL);
        assert_int_equal(n > 0, memchr(known, (int)b, sizeof known) != NULL);
    }
}

static void encoding_refuses_what_does_not_fit(void **state)
{
    (void)state;
    static const struct assay_pt_packet bad[] = {
        {.type = ASSAY_PT_TNT, .tnt = {.count = 0}},
        {.type = ASSAY_PT_TNT, .tnt = {.count = 7}},
        {.type = ASSAY_PT_TNT, .tnt = {.count = 2, .bits = 4}},
        {.type = ASSAY_PT_TNT64, .tnt = {.count = 48}},
        {.type = ASSAY_PT_TIP, .ip = {.ipbytes = 5}},
        {.type = ASSAY_PT_TIP, .ip = {.ipbytes = 7}},
        {.type = ASSAY_PT_TIP, .ip = {.ipbytes = 9}},
        {.type = ASSAY_PT_TIP, .ip = {.ipbytes = 0, .payload = 1}},
        {.type = ASSAY_PT_FUP, .ip = {.ipbytes = 1, .payload = 0x10000}},
        {.type = ASSAY_PT_PIP, .pip = {.cr3 = 0x10}},
        {.type = ASSAY_PT_PIP, .pip = {.cr3 = UINT64_C(1) << 52}},
        {.type = ASSAY_PT_MODE_EXEC, .exec = {.cs_l = true, .cs_d = true}},
        {.type = ASSAY_PT_MODE_TSX, .tsx = {.in_tx = true, .abort = true}},
        {.type = ASSAY_PT_TSC, .tsc = {.tsc = UINT64_C(1) << 56}},
        {.type = ASSAY_PT_TMA, .tma = {.fc = 512}},
        {.type = ASSAY_PT_VMCS, .vmcs = {.base = 0x800}},
        {.type = ASSAY_PT_PWRE, .pwre = {.state = 16}},
        {.type = ASSAY_PT_PTW, .ptw = {.bytes = 2}},
        {.type = ASSAY_PT_PTW, .ptw = {.bytes = 4, .payload = UINT64_C(1) << 32}},
        {.type = ASSAY_PT_CFE, .cfe = {.type = 32}},
        {.type = ASSAY_PT_EVD, .evd = {.type = 64}},
        {.type = ASSAY_PT_BBP, .bbp = {.item_bytes = 5}},
        {.type = ASSAY_PT_BIP, .bip = {.bytes = 8, .id = 32}},
        {.type = ASSAY_PT_TRIG, .trig = {.icnt = 1}},
        {.type = ASSAY_PT_GAP},
        {.type = 0xff},
    };
    uint8_t buf[ASSAY_PT_MAX_PACKET];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(assay_pt_encode(&bad[i], buf), ASSAY_E_ARGUMENT);
}

static void an_ip_is_compressed_to_the_fewest_bytes(void **state)
{
    (void)state;
    static const struct {
        uint64_t last, ip;
        uint8_t ipbytes;
        uint64_t payload;
    } cases[] = {
        {0x401000, 0x401fff, 1, 0x1fff},
        {0x401000, 0x401000, 1, 0x1000},
        {0x401000, 0x411000, 2, 0x411000},
        {0, 0x7fff00001000, 3, 0x7fff00001000},
        {0, UINT64_C(0xffffffff81000000), 3, 0xffff81000000},
        {UINT64_C(0xffff800000001000), 0x401000, 3, 0x401000},
        {UINT64_C(0x0012000000000000), UINT64_C(0x0012345678000000), 4, 0x345678000000},
        {0, UINT64_C(0x0012000000000000), 6, UINT64_C(0x0012000000000000)},
        {0, 0x800000000000, 4, 0x800000000000}, /* sign extension would set the upper bits */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct assay_pt_packet p = {.type = ASSAY_PT_TIP};
        uint64_t last = cases[i].last;
        assay_pt_compress_ip(&p, cases[i].ip, last);
        assert_int_equal(p.ip.ipbytes, cases[i].ipbytes);
        assert_true(p.ip.payload == cases[i].payload);
        assay_pt_last_ip(&p, &last);
        assert_true(last == cases[i].ip && p.ip.ip == cases[i].ip && p.ip.known);
    }
}

static void text_lines_up(void **state)
{
    (void)state;
    char text[200];
    struct assay_out o;
    struct assay_pt_packet tip = {.type = ASSAY_PT_TIP_PGE, .size = 7, .offset = 0x10};
    struct assay_pt_packet end = {.type = ASSAY_PT_PSBEND, .size = 2, .offset = UINT64_C(0x123456789a)};
    struct assay_pt_packet gap = {.type = ASSAY_PT_GAP, .gap = {.bytes = 3, .what = "unknown opcode"}};
    assay_pt_compress_ip(&tip, 0x7f0000401000, 0);
    assay_out_init(&o, text, sizeof text - 1, NULL, NULL);
    assay_pt_print(&tip, &o);
    assay_out_char(&o, '\n');
    assay_pt_print(&end, &o);
    assay_out_char(&o, '\n');
    assay_pt_print(&gap, &o);
    text[o.len] = '\0';
    assert_string_equal(text, "00000010  TIP.PGE   ip=0x7f0000401000 ipbytes=3 payload=0x7f0000401000\n"
                              "123456789a  PSBEND\n"
                              "00000000  gap       3 bytes passed over: unknown opcode");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_packet_decodes_to_its_fields),
        cmocka_unit_test(every_packet_encodes_to_its_bytes),
        cmocka_unit_test(an_incomplete_packet_is_truncated),
        cmocka_unit_test(reserved_values_are_refused),
        cmocka_unit_test(every_first_byte_has_its_packet),
        cmocka_unit_test(only_the_known_extended_opcodes_are_packets),
        cmocka_unit_test(encoding_refuses_what_does_not_fit),
        cmocka_unit_test(an_ip_is_compressed_to_the_fewest_bytes),
        cmocka_unit_test(text_lines_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
