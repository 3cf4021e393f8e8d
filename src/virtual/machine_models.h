/* SPDX-License-Identifier: MIT */
/* The texts of data/machine, as tools/embed_models.py puts them into C. */
#ifndef ASSAY_VIRTUAL_MACHINE_MODELS_H
#define ASSAY_VIRTUAL_MACHINE_MODELS_H

struct machine_builtin {
    const char *name, *text;
};
extern const struct machine_builtin assay_machine_builtins[];
extern const unsigned assay_machine_builtin_count;

#endif
