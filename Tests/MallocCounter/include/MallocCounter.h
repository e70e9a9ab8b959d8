#ifndef MALLOC_COUNTER_H
#define MALLOC_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

/// Whether this build counts: on glibc, without a sanitizer (which brings an allocator of its own).
bool mallocCounterWorks(void);

/// How many allocations the calling thread has made while it was counting.
uint64_t mallocCountOfThread(void);

/// How many allocations all threads have made while the process was counting.
uint64_t mallocCountOfProcess(void);

/// Starts or stops counting for the whole process. Off at first, so that timings are not disturbed.
void mallocCountProcess(bool on);

/// Starts or stops counting for the calling thread.
void mallocCountThread(bool on);

#endif
