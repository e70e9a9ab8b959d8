// Takes the place of the C library's allocator by name, counts, and calls the original.
//
// Counts calls that ask for memory: malloc, calloc, realloc of nothing, and the aligned ones. What
// Swift allocates comes through here, because its runtime calls malloc and posix_memalign.

#include "MallocCounter.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HAS_OTHER_ALLOCATOR 1
#endif
#endif

#if defined(__GLIBC__) && !defined(HAS_OTHER_ALLOCATOR)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

// The thread's two live in the executable's own block, so reading them allocates nothing.
static __thread bool countsThread;
static __thread uint64_t threadCount;
static atomic_bool countsProcess;
static atomic_uint_fast64_t processCount;

static inline void count(void) {
    if (countsThread) threadCount += 1;
    if (__builtin_expect(atomic_load_explicit(&countsProcess, memory_order_relaxed), 0)) {
        atomic_fetch_add_explicit(&processCount, 1, memory_order_relaxed);
    }
}

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    if (memory == NULL) count();
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    count();
    void *made = __libc_memalign(alignment, size);
    if (made == NULL) return ENOMEM;
    *memory = made;
    return 0;
}

bool mallocCounterWorks(void) { return true; }
uint64_t mallocCountOfThread(void) { return threadCount; }
uint64_t mallocCountOfProcess(void) { return atomic_load(&processCount); }
void mallocCountProcess(bool on) { atomic_store(&countsProcess, on); }
void mallocCountThread(bool on) { countsThread = on; }

#else

bool mallocCounterWorks(void) { return false; }
uint64_t mallocCountOfThread(void) { return 0; }
uint64_t mallocCountOfProcess(void) { return 0; }
void mallocCountProcess(bool on) { (void)on; }
void mallocCountThread(bool on) { (void)on; }

#endif
