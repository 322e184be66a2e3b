/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "conformance/subject/buffer.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/subject/host_wire.h"

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static bool grow(ng_buffer *buffer, size_t wanted)
{
    const size_t page = page_size();
    size_t room = page;

    while (room < wanted)
        room *= 2;
    if (buffer->map != NULL)
        munmap(buffer->map, buffer->room + 2 * page);
    *buffer = (ng_buffer){0};

    const size_t bytes = room + 2 * page;
    // cppcheck-suppress invalidFunctionArg
    void *map = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        return false;
    if (mprotect((unsigned char *)map + page, room, PROT_READ | PROT_WRITE)
        != 0) {
        munmap(map, room + 2 * page);
        return false;
    }
    buffer->map = map;
    buffer->room = room;
    return true;
}

bool ng_buffer_place(ng_buffer *buffer, int64_t span, size_t alignment,
                     bool at_end)
{
    const size_t wanted = (size_t)span + NG_HOST_GUARD + alignment;

    if (wanted > buffer->room && !grow(buffer, wanted))
        return false;

    unsigned char *begin = buffer->map + page_size();
    const size_t free_bytes = buffer->room - (size_t)span;

    /* The room begins at a page, so at a multiple of any alignment. */
    buffer->data = at_end ? begin + free_bytes / alignment * alignment : begin;
    buffer->span = span;
    buffer->before = at_end ? NG_HOST_GUARD : 0;
    buffer->after = at_end ? free_bytes % alignment : NG_HOST_GUARD;
    if (buffer->after > NG_HOST_GUARD)
        buffer->after = NG_HOST_GUARD;
    memset(buffer->data - buffer->before, NG_HOST_GUARD_BYTE, buffer->before);
    memset(buffer->data + span, NG_HOST_GUARD_BYTE, buffer->after);
    return true;
}

bool ng_buffer_holds(const ng_buffer *buffer, uintptr_t address)
{
    const uintptr_t begin = (uintptr_t)buffer->map;

    return buffer->map != NULL && address >= begin
           && address < begin + buffer->room + 2 * page_size();
}
