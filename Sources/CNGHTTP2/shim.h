#ifndef TRIBUTARY_CNGHTTP2_SHIM_H
#define TRIBUTARY_CNGHTTP2_SHIM_H

#if __has_include(<nghttp2/nghttp2.h>)
#include <nghttp2/nghttp2.h>
#else
#error "nghttp2's headers are missing: run script/deps (Debian/Ubuntu: apt-get install libnghttp2-dev; macOS: brew install libnghttp2; Fedora: dnf install libnghttp2-devel)"
#endif

#if NGHTTP2_VERSION_NUM < 0x013400
#error "nghttp2 1.52 or newer is needed"
#endif

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Memory: every block is preceded by its size, so that each session counts what it holds. ---- */

/* As large as the strictest alignment, so that the block behind it is aligned too. */
enum { TRIBUTARY_H2_BLOCK_HEAD = 16 };

static inline void *tributary_h2_finish_block(unsigned char *start, size_t size, size_t *held)
{
    if (start == NULL) return NULL;
    memcpy(start, &size, sizeof size);
    *held += size;
    return start + TRIBUTARY_H2_BLOCK_HEAD;
}

static inline void *tributary_h2_malloc(size_t size, void *held)
{
    if (size > SIZE_MAX - TRIBUTARY_H2_BLOCK_HEAD) return NULL;
    return tributary_h2_finish_block(
        (unsigned char *)malloc(TRIBUTARY_H2_BLOCK_HEAD + size), size, (size_t *)held);
}

static inline void *tributary_h2_calloc(size_t count, size_t size, void *held)
{
    if (size != 0 && count > (SIZE_MAX - TRIBUTARY_H2_BLOCK_HEAD) / size) return NULL;
    return tributary_h2_finish_block(
        (unsigned char *)calloc(1, TRIBUTARY_H2_BLOCK_HEAD + count * size), count * size,
        (size_t *)held);
}

static inline size_t tributary_h2_block_size(const unsigned char *start)
{
    size_t size;
    memcpy(&size, start, sizeof size);
    return size;
}

static inline void tributary_h2_free(void *block, void *held)
{
    unsigned char *start;
    if (block == NULL) return;
    start = (unsigned char *)block - TRIBUTARY_H2_BLOCK_HEAD;
    *(size_t *)held -= tributary_h2_block_size(start);
    free(start);
}

static inline void *tributary_h2_realloc(void *block, size_t size, void *held)
{
    unsigned char *start;
    unsigned char *moved;
    size_t former;
    if (block == NULL) return tributary_h2_malloc(size, held);
    if (size > SIZE_MAX - TRIBUTARY_H2_BLOCK_HEAD) return NULL;
    start = (unsigned char *)block - TRIBUTARY_H2_BLOCK_HEAD;
    former = tributary_h2_block_size(start);
    moved = (unsigned char *)realloc(start, TRIBUTARY_H2_BLOCK_HEAD + size);
    /* The former block is still valid then. */
    if (moved == NULL) return NULL;
    *(size_t *)held -= former;
    return tributary_h2_finish_block(moved, size, (size_t *)held);
}

/* The functions for a session that counts its bytes in `held`. */
static inline nghttp2_mem tributary_h2_mem(size_t *held)
{
    nghttp2_mem mem;
    mem.mem_user_data = held;
    mem.malloc = tributary_h2_malloc;
    mem.free = tributary_h2_free;
    mem.calloc = tributary_h2_calloc;
    mem.realloc = tributary_h2_realloc;
    return mem;
}

#endif
