/* SPDX-License-Identifier: MIT */
/* A made-up machine's files in a temporary folder, which is struct assay_sys.root. */
#ifndef ASSAY_TEST_FOLDER_H
#define ASSAY_TEST_FOLDER_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[32];

static inline int make_root(void)
{
    strcpy(root, "/tmp/assay-test-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static inline int drop_root(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

static inline void make_file(const char *name, const char *text, mode_t mode)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

#endif
