/* SPDX-License-Identifier: MIT */
/* Any bytes as a packet stream: all are accounted for, in one piece and in parts, and what decodes encodes again.
 * Byte 0 chooses the size of the parts and whether the stream is taken to be synchronised. */
#include "../prop/packet_check.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    bool synced = data[0] & 1;
    const char *complaint = check_stream(data + 1, size - 1, synced);
    if (!complaint)
        complaint = check_refills(data + 1, size - 1, 1 + (data[0] >> 1), synced);
    if (!complaint)
        complaint = check_batches(data + 1, size - 1, 1 + data[0], synced);
    if (complaint) {
        fprintf(stderr, "%s\n", complaint);
        abort();
    }
    return 0;
}
