/* SPDX-License-Identifier: MIT */
/* Gives a fuzzer's corpus to its entry point as an ordinary test. usage: replay FOLDER|FILE... */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 24 };

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = f ? malloc(MOST) : NULL;
    if (!data) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    size_t size = fread(data, 1, MOST, f);
    fclose(f);
    /* To the byte, so that a sanitizer sees a read behind the end. */
    uint8_t *exact = malloc(size ? size : 1);
    if (exact) {
        memcpy(exact, data, size);
        LLVMFuzzerTestOneInput(exact, size);
    }
    free(exact);
    free(data);
    return 1;
}

static int replay_folder(const char *path, DIR *dir)
{
    int files = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        int n = replay_file(name);
        if (n < 0)
            return n;
        files += n;
    }
    return files;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        int n = dir ? replay_folder(argv[i], dir) : replay_file(argv[i]);
        if (dir)
            closedir(dir);
        if (n < 0)
            return 1;
        files += n;
    }
    printf("%d inputs\n", files);
    return files == 0;
}
