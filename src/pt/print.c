/* SPDX-License-Identifier: MIT */
/* Packets as text and as JSON. Both walk the same list of fields. */
#include <assay/base.h>
#include <assay/pt.h>
#include <assay/text.h>

#include "pt/field.h"
#include "pt/layout.h"

static const char cfe_names[][12] = {"",       "INTR",        "IRET",     "SMI", "RSM",   "SIPI",  "INIT",   "VMENTRY",
                                     "VMEXIT", "VMEXIT_INTR", "SHUTDOWN", "",    "UINTR", "UIRET", "SWINTR", "SYSCALL"};
static const char evd_names[][12] = {"CR2", "VMXQ", "VMXR"};

/* Where the fields go: a line of text, or the members of a JSON object. */
struct writer {
    struct assay_out *o;  /* text, or NULL */
    struct assay_json *j; /* JSON, or NULL */
};

static void key(struct writer *w, const char *name)
{
    assay_out_char(w->o, ' ');
    assay_out_str(w->o, name);
    assay_out_char(w->o, '=');
}

static void put_dec(struct writer *w, const char *name, uint64_t v)
{
    if (w->j) {
        assay_json_u64(w->j, name, v);
        return;
    }
    key(w, name);
    assay_out_dec(w->o, v);
}

static void put_hex(struct writer *w, const char *name, uint64_t v)
{
    if (w->j) {
        assay_json_addr(w->j, name, v);
        return;
    }
    key(w, name);
    assay_out_str(w->o, "0x");
    assay_out_hex(w->o, v);
}

static void put_word(struct writer *w, const char *name, const char *v)
{
    if (w->j) {
        assay_json_str(w->j, name, v);
        return;
    }
    key(w, name);
    assay_out_str(w->o, v);
}

static void put_flag(struct writer *w, const char *name, bool v)
{
    if (w->j)
        assay_json_bool(w->j, name, v);
    else
        put_dec(w, name, v);
}

static void put_type(struct writer *w, const struct pt_field *f, uint64_t v)
{
    const char(*names)[12] = f->kind == PT_CFE_TYPE ? cfe_names : evd_names;
    size_t n = f->kind == PT_CFE_TYPE ? sizeof cfe_names / 12 : sizeof evd_names / 12;
    put_dec(w, f->name, v);
    if (v < n && names[v][0])
        put_word(w, "event", names[v]);
    else if (w->j)
        assay_json_null(w->j, "event");
}

static void put_field(struct writer *w, const struct assay_pt_packet *p, const struct pt_field *f)
{
    uint64_t v = pt_member_get(p, f);
    switch (f->kind) {
    case PT_DEC:
    case PT_ITEM_BYTES:
        put_dec(w, f->name, v);
        break;
    case PT_HEX:
        put_hex(w, f->name, v);
        break;
    case PT_REST:
        if (w->j || v)
            put_dec(w, f->name, v);
        break;
    case PT_FLAG:
        put_flag(w, f->name, v != 0);
        break;
    case PT_CFE_TYPE:
    case PT_EVD_TYPE:
        put_type(w, f, v);
        break;
    default:
        break;
    }
}

/* Oldest branch first. */
static void put_branches(struct writer *w, const struct assay_pt_packet *p)
{
    char text[48];
    unsigned count = p->tnt.count < sizeof text ? p->tnt.count : (unsigned)sizeof text - 1;
    for (unsigned i = 0; i < count; i++)
        text[i] = p->tnt.bits >> (count - 1 - i) & 1 ? 'T' : 'N';
    text[count] = '\0';
    put_word(w, "branches", text);
    put_dec(w, "count", p->tnt.count);
}

static void put_ip(struct writer *w, const struct assay_pt_packet *p)
{
    if (p->ip.known)
        put_hex(w, "ip", p->ip.ip);
    else if (w->j)
        assay_json_null(w->j, "ip");
    else
        put_word(w, "ip", p->ip.suppressed ? "suppressed" : "unknown");
    put_dec(w, "ipbytes", p->ip.ipbytes);
    if (!p->ip.suppressed)
        put_hex(w, "payload", p->ip.payload);
    else if (w->j)
        assay_json_null(w->j, "payload");
}

static void put_shape(struct writer *w, const struct assay_pt_packet *p, enum pt_shape shape)
{
    switch (shape) {
    case PT_BITS:
        put_branches(w, p);
        break;
    case PT_IPS:
        put_ip(w, p);
        break;
    case PT_CYCLES:
        put_dec(w, "cycles", p->cyc.cycles);
        break;
    case PT_OPERAND:
        put_hex(w, "payload", p->ptw.payload);
        put_dec(w, "bytes", p->ptw.bytes);
        break;
    case PT_ITEM:
        put_dec(w, "id", p->bip.id);
        put_hex(w, "value", p->bip.value);
        put_dec(w, "bytes", p->bip.bytes);
        break;
    case PT_OPTIONAL:
        if (p->trig.icntv)
            put_dec(w, "icnt", p->trig.icnt);
        else if (w->j)
            assay_json_null(w->j, "icnt");
        break;
    default:
        break;
    }
}

/* The fields of the table, then what the shape adds to them. */
static void put_payload(struct writer *w, const struct assay_pt_packet *p)
{
    const struct pt_layout *l = &assay_pt_layout[p->type];
    if (p->type == ASSAY_PT_MODE_EXEC)
        put_dec(w, "mode", p->exec.cs_l ? 64 : p->exec.cs_d ? 32 : 16);
    for (const struct pt_field *f = l->field; f < l->field + PT_FIELDS && f->width; f++)
        put_field(w, p, f);
    put_shape(w, p, (enum pt_shape)l->shape);
}

static bool has_payload(const struct pt_layout *l)
{
    return l->field[0].width || (l->shape != PT_FIXED && l->shape != PT_REPEAT);
}

static void print_gap(const struct assay_pt_packet *p, struct assay_out *o)
{
    assay_out_left(o, "gap", 10);
    assay_out_dec(o, p->gap.bytes);
    assay_out_str(o, " bytes passed over: ");
    assay_out_str(o, p->gap.what ? p->gap.what : assay_status_name(p->gap.code));
}

void assay_pt_print(const struct assay_pt_packet *p, struct assay_out *o)
{
    unsigned digits = 8;
    while (digits < 16 && p->offset >> 4 * digits)
        digits++;
    assay_out_hex0(o, p->offset, digits);
    assay_out_str(o, "  ");
    if (p->type >= ASSAY_PT_TYPES) {
        print_gap(p, o);
        return;
    }
    const struct pt_layout *l = &assay_pt_layout[p->type];
    struct writer w = {.o = o};
    assay_out_left(o, l->name, has_payload(l) ? 9 : 0);
    put_payload(&w, p);
}

void assay_pt_json_members(const struct assay_pt_packet *p, struct assay_json *j)
{
    bool gap = p->type >= ASSAY_PT_TYPES;
    struct writer w = {.j = j};
    assay_json_u64(j, "offset", p->offset);
    assay_json_u64(j, "size", gap ? p->gap.bytes : p->size);
    assay_json_str(j, "packet", assay_pt_name(p->type));
    if (gap) {
        assay_json_str(j, "code", assay_status_name(p->gap.code));
        assay_json_str(j, "what", p->gap.what);
    } else {
        put_payload(&w, p);
    }
}

void assay_pt_print_json(const struct assay_pt_packet *p, struct assay_json *j)
{
    assay_json_open(j, NULL);
    assay_pt_json_members(p, j);
    assay_json_close(j);
}
