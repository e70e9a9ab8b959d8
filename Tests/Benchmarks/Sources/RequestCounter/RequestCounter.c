// Loaded into a gateway with LD_PRELOAD: counts the allocations, and the retains and releases, of the whole process.
//
// With SIGUSR2 the process appends both counts to the file that REQUEST_COUNTS names, as one line. The functions of
// Swift's runtime that retain and release are replaced by name; those that the runtime calls itself, for example when
// it destroys an array, are not counted.

#include "RequestCounter.h"

#include "MallocCounter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_uint_fast64_t references;
static int output = -1;

// As in the runtime: neither null nor a short string, which is its own text, has a count.
static inline void count(const void *object) {
    if ((intptr_t)object > 0) atomic_fetch_add_explicit(&references, 1, memory_order_relaxed);
}

static void *original(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) abort();
    return function;
}

// The convention of these functions.
#ifdef __aarch64__
#define RUNTIME __attribute__((preserve_most))
#else
#define RUNTIME
#endif

#define COUNT_RETAIN(name)                                                                                             \
    RUNTIME void *name(void *object) {                                                                                 \
        static RUNTIME void *(*retain)(void *);                                                                        \
        if (retain == NULL) retain = original(#name);                                                                  \
        count(object);                                                                                                 \
        return retain(object);                                                                                         \
    }

#define COUNT_RELEASE(name)                                                                                            \
    RUNTIME void name(void *object) {                                                                                  \
        static RUNTIME void (*release)(void *);                                                                        \
        if (release == NULL) release = original(#name);                                                                \
        count(object);                                                                                                 \
        release(object);                                                                                               \
    }

COUNT_RETAIN(swift_retain)
COUNT_RETAIN(swift_bridgeObjectRetain)
COUNT_RETAIN(swift_unownedRetain)
COUNT_RETAIN(swift_unownedRetainStrong)
COUNT_RELEASE(swift_release)
COUNT_RELEASE(swift_bridgeObjectRelease)
COUNT_RELEASE(swift_unownedRelease)

RUNTIME void *swift_retain_n(void *object, uint32_t number) {
    static RUNTIME void *(*retain)(void *, uint32_t);
    if (retain == NULL) retain = original("swift_retain_n");
    count(object);
    return retain(object, number);
}

RUNTIME void swift_release_n(void *object, uint32_t number) {
    static RUNTIME void (*release)(void *, uint32_t);
    if (release == NULL) release = original("swift_release_n");
    count(object);
    release(object, number);
}

static void report(int signal) {
    (void)signal;
    char line[64];
    int length = snprintf(line, sizeof line, "%" PRIu64 " %" PRIu64 "\n", mallocCountOfProcess(),
        (uint64_t)atomic_load(&references));
    if (length > 0 && write(output, line, (size_t)length) < 0) abort();
}

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("REQUEST_COUNTS");
    if (path == NULL || !mallocCounterWorks()) return;
    output = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (output < 0) abort();
    mallocCountProcess(true);
    signal(SIGUSR2, report);
}
