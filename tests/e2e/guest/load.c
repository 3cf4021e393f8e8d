/* SPDX-License-Identifier: MIT */
/* dlopen, calls into what came, dlclose, and again: code that comes, goes and comes elsewhere. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        void *m = dlopen(i % 2 ? "libz.so.1" : "libm.so.6", RTLD_NOW | RTLD_LOCAL);
        if (!m)
            continue;
        double (*sine)(double);
        unsigned long (*sum_of)(unsigned long, const unsigned char *, unsigned);
        *(void **)&sine = dlsym(m, "sin");
        *(void **)&sum_of = dlsym(m, "crc32");
        if (sine)
            sum += sine(i + 0.5);
        if (sum_of)
            sum += (double)sum_of(0, (const unsigned char *)"abc", 3);
        dlclose(m);
    }
    printf("%.3f\n", sum);
    return 0;
}
