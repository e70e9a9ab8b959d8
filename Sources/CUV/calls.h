#ifndef TRIBUTARY_CUV_CALLS_H
#define TRIBUTARY_CUV_CALLS_H

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <uv.h>

/* Every call of libuv's that can fail, under the name tributary_<its own>, so that each can be made
   to fail. In a release build these are the calls themselves and nothing else.

   With TRIBUTARY_FAULTS, which the manifest defines for debug builds of UVReactor and its tests, a
   thread counts its calls, and the one that a test has picked is not made: it gives the code that
   the test wants. Per thread, so that tests run side by side. */

#ifdef TRIBUTARY_FAULTS

struct tributary_faults {
    /* Counts down with each call; the one that makes it 0 fails. 0: none will. */
    int countdown;
    /* What the call gives instead: a negative error number. */
    int code;
    /* The call that failed, once it has. */
    const char *failed;
};

/* Weak: one for the process, although every object file has its own copy of this header. */
__attribute__((weak, returns_nonnull)) struct tributary_faults *tributary_thread_faults(void)
{
    static _Thread_local struct tributary_faults faults;
    return &faults;
}

static inline int tributary_fault(const char *name)
{
    struct tributary_faults *faults = tributary_thread_faults();
    if (faults->countdown == 0 || --faults->countdown > 0) return 0;
    faults->failed = name;
    return faults->code;
}

#define TRIBUTARY_FAIL(name)                                                                       \
    do {                                                                                           \
        int code = tributary_fault(#name);                                                         \
        if (code < 0) return code;                                                                 \
    } while (0)

/* A system call, which says -1 and sets errno. */
#define TRIBUTARY_SYSTEM(name, arguments)                                                          \
    ({                                                                                             \
        int code = tributary_fault(#name);                                                         \
        code < 0 ? (errno = -code, -1) : name arguments;                                           \
    })

#else

#define TRIBUTARY_FAIL(name) do { } while (0)
#define TRIBUTARY_SYSTEM(name, arguments) name arguments

#endif

#define TRIBUTARY_CALL(name, parameters, arguments)                                                \
    static inline int tributary_##name parameters                                                  \
    {                                                                                              \
        TRIBUTARY_FAIL(name);                                                                      \
        return name arguments;                                                                     \
    }

/* ---- Loop ---- */

TRIBUTARY_CALL(uv_loop_init, (uv_loop_t *loop), (loop))
TRIBUTARY_CALL(uv_loop_close, (uv_loop_t *loop), (loop))
TRIBUTARY_CALL(uv_getrusage, (uv_rusage_t *usage), (usage))
TRIBUTARY_CALL(uv_resident_set_memory, (size_t *bytes), (bytes))
TRIBUTARY_CALL(uv_random, (void *bytes, size_t count), (NULL, NULL, bytes, count, 0, NULL))
TRIBUTARY_CALL(
    uv_async_init, (uv_loop_t *loop, uv_async_t *async, uv_async_cb call),
    (loop, async, call))
TRIBUTARY_CALL(uv_async_send, (uv_async_t *async), (async))
TRIBUTARY_CALL(uv_idle_init, (uv_loop_t *loop, uv_idle_t *idle), (loop, idle))
TRIBUTARY_CALL(uv_idle_start, (uv_idle_t *idle, uv_idle_cb call), (idle, call))
TRIBUTARY_CALL(uv_idle_stop, (uv_idle_t *idle), (idle))
TRIBUTARY_CALL(uv_prepare_init, (uv_loop_t *loop, uv_prepare_t *prepare), (loop, prepare))
TRIBUTARY_CALL(uv_prepare_start, (uv_prepare_t *prepare, uv_prepare_cb call), (prepare, call))
TRIBUTARY_CALL(uv_timer_init, (uv_loop_t *loop, uv_timer_t *timer), (loop, timer))
TRIBUTARY_CALL(
    uv_timer_start, (uv_timer_t *timer, uv_timer_cb call, uint64_t after),
    (timer, call, after, 0))
TRIBUTARY_CALL(uv_signal_init, (uv_loop_t *loop, uv_signal_t *source), (loop, source))
TRIBUTARY_CALL(
    uv_signal_start, (uv_signal_t *source, uv_signal_cb call, int number),
    (source, call, number))

/* ---- Sockets ---- */

TRIBUTARY_CALL(
    uv_poll_init, (uv_loop_t *loop, uv_poll_t *poll, int descriptor),
    (loop, poll, descriptor))
TRIBUTARY_CALL(uv_poll_start, (uv_poll_t *poll, int events, uv_poll_cb call), (poll, events, call))
TRIBUTARY_CALL(uv_poll_stop, (uv_poll_t *poll), (poll))
TRIBUTARY_CALL(uv_tcp_init, (uv_loop_t *loop, uv_tcp_t *tcp), (loop, tcp))
TRIBUTARY_CALL(
    uv_tcp_init_ex, (uv_loop_t *loop, uv_tcp_t *tcp, unsigned int family), (loop, tcp, family))
TRIBUTARY_CALL(uv_tcp_open, (uv_tcp_t *tcp, int descriptor), (tcp, descriptor))
TRIBUTARY_CALL(uv_tcp_nodelay, (uv_tcp_t *tcp), (tcp, 1))
TRIBUTARY_CALL(
    uv_tcp_connect,
    (uv_connect_t *request, uv_tcp_t *tcp, const struct sockaddr *address, uv_connect_cb call),
    (request, tcp, address, call))
TRIBUTARY_CALL(uv_pipe_init, (uv_loop_t *loop, uv_pipe_t *pipe), (loop, pipe, 0))

/* libuv's own gives nothing: what is wrong with the path comes with the callback. */
static inline int tributary_uv_pipe_connect(
    uv_connect_t *request, uv_pipe_t *pipe, const char *path, uv_connect_cb call)
{
    TRIBUTARY_FAIL(uv_pipe_connect);
    uv_pipe_connect(request, pipe, path, call);
    return 0;
}

TRIBUTARY_CALL(uv_pipe_open, (uv_pipe_t *pipe, int descriptor), (pipe, descriptor))
TRIBUTARY_CALL(
    uv_read_start, (uv_stream_t *stream, uv_alloc_cb buffer, uv_read_cb call),
    (stream, buffer, call))
TRIBUTARY_CALL(uv_read_stop, (uv_stream_t *stream), (stream))
TRIBUTARY_CALL(
    uv_try_write, (uv_stream_t *stream, const uv_buf_t *buffers, unsigned count),
    (stream, buffers, count))
TRIBUTARY_CALL(
    uv_write,
    (uv_write_t *request, uv_stream_t *stream, const uv_buf_t *buffers, unsigned count,
     uv_write_cb call),
    (request, stream, buffers, count, call))
TRIBUTARY_CALL(
    uv_shutdown, (uv_shutdown_t *request, uv_stream_t *stream, uv_shutdown_cb call),
    (request, stream, call))

/* ---- Threads ---- */

/* Starts a thread that is never joined. 512 KiB of stack: enough for getaddrinfo with every module
   of the system's name service, and many such threads cost little address space. */
static inline int tributary_start_thread(void *(*run)(void *), void *data)
{
    TRIBUTARY_FAIL(pthread_create);
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code != 0) return -code;
    pthread_attr_setstacksize(&attributes, 512 * 1024);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    code = pthread_create(&thread, &attributes, run, data);
    pthread_attr_destroy(&attributes);
    return -code;
}

#endif
