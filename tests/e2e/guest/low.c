/* SPDX-License-Identifier: MIT */
/* Linked below 4 GB: most PSBs fall into its loop, after compressed returns from the C library, so that the last IP is far away. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    volatile int turns = 1000;
    int equal = 0;
    for (int i = 0; i < turns; i++) {
        const char *other = i % 3 ? argv[0] : "none";
        if (strcmp(argv[0], other) == 0)
            equal++;
        for (int bit = 0; bit < 60; bit++)
            if ((i >> bit % 13) & argc)
                equal ^= bit;
    }
    printf("%d\n", equal);
    return 0;
}
