/* SPDX-License-Identifier: MIT */
/* Several runs of a program: mean and spread. The spread is the standard error of the mean, sqrt(s2 / n) with s2
 * the sum of squared deviations divided by n - 1, in percent of the mean. */
#include "stat.h"

#include <math.h>

/* Welford's update: *mean is of n values with the new one. */
static void add_value(double v, uint64_t n, double *mean, double *squares)
{
    double delta = v - *mean;
    *mean += delta / (double)n;
    *squares += delta * (v - *mean);
}

static void add_row(struct stat_row *to, const struct stat_row *one)
{
    to->raw += one->raw;
    to->enabled += one->enabled;
    to->running += one->running;
    if (one->state != STAT_COUNTED)
        return;
    if (to->state != STAT_COUNTED)
        to->value = 0;
    to->state = STAT_COUNTED;
    add_value(one->value, ++to->runs, &to->value, &to->squares);
}

void stat_result_add(struct stat_result *to, const struct stat_result *one)
{
    double wall = (double)to->wall_ns;
    for (size_t i = 0; i < to->rows && to->runs == 1; i++)
        to->row[i].runs = to->row[i].state == STAT_COUNTED;
    for (size_t i = 0; i < to->rows && i < one->rows; i++)
        add_row(&to->row[i], &one->row[i]);
    add_value((double)one->wall_ns, ++to->runs, &wall, &to->wall_squares);
    to->wall_ns = (uint64_t)(wall + 0.5);
    to->user_ns += one->user_ns;
    to->system_ns += one->system_ns;
    to->status = to->status ? to->status : one->status;
    to->interrupted |= one->interrupted;
    to->lost |= one->lost;
}

static double spread(uint64_t n, double mean, double squares)
{
    if (n < 2)
        return -1;
    return mean > 0 ? 100 * sqrt(squares / (double)(n - 1) / (double)n) / mean : 0;
}

void stat_result_finish(struct stat_result *r)
{
    if (r->runs < 2)
        return;
    for (size_t i = 0; i < r->rows; i++)
        r->row[i].spread = spread(r->row[i].runs, r->row[i].value, r->row[i].squares);
    r->wall_spread = spread(r->runs, (double)r->wall_ns, r->wall_squares);
    r->user_ns /= r->runs;
    r->system_ns /= r->runs;
}
