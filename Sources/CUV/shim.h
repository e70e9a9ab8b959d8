#ifndef TRIBUTARY_CUV_SHIM_H
#define TRIBUTARY_CUV_SHIM_H

#if __has_include(<uv.h>)
#include <sys/resource.h>
#include <uv.h>
#else
#error "libuv's headers are missing: run script/deps (Debian/Ubuntu: apt-get install libuv1-dev; macOS: brew install libuv; Fedora: dnf install libuv-devel)"
#endif

#if UV_VERSION_HEX < ((1 << 16) | (44 << 8))
#error "libuv 1.44 or newer is needed"
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netdb.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#ifdef __linux__
#include <sys/epoll.h>
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "crash.h"

/* What libuv 1.44 does not offer, and what Swift cannot say about C structs. Every function that
   asks the system for something gives back a negative error number, as libuv does. */

/* ---- Names ---- */

/* The addresses of a host name, to be freed with freeaddrinfo; it may block for as long as the system
   waits for its name service. Gives 0 or a code of libuv's, which has numbers of its own for what
   getaddrinfo says. */
static inline int tributary_getaddrinfo(const char *host, struct addrinfo **list)
{
    /* Without a type of socket each address comes three times. */
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    int code = getaddrinfo(host, NULL, &hints, list);
    switch (code) {
    case 0: return 0;
    case EAI_NONAME: return UV_EAI_NONAME;
#ifdef EAI_NODATA
    case EAI_NODATA: return UV_EAI_NODATA;
#elif defined(__GLIBC__)
    case -5: return UV_EAI_NODATA; /* EAI_NODATA, which the header names for GNU sources only */
#endif
    case EAI_MEMORY: return UV_EAI_MEMORY;
    case EAI_SYSTEM: return errno > 0 ? -errno : UV_EAI_AGAIN;
    default: return UV_EAI_AGAIN;
    }
}

/* ---- Socket addresses ---- */

static inline socklen_t tributary_address_v4(
    struct sockaddr_storage *out, uint32_t address, uint16_t port)
{
    struct sockaddr_in *in = (struct sockaddr_in *)out;
    memset(out, 0, sizeof *out);
    in->sin_family = AF_INET;
    in->sin_port = htons(port);
    in->sin_addr.s_addr = htonl(address);
    return sizeof *in;
}

static inline socklen_t tributary_address_v6(
    struct sockaddr_storage *out, uint64_t high, uint64_t low, uint16_t port)
{
    struct sockaddr_in6 *in = (struct sockaddr_in6 *)out;
    memset(out, 0, sizeof *out);
    in->sin6_family = AF_INET6;
    in->sin6_port = htons(port);
    for (int i = 0; i < 8; i++) {
        in->sin6_addr.s6_addr[i] = (uint8_t)(high >> (56 - 8 * i));
        in->sin6_addr.s6_addr[8 + i] = (uint8_t)(low >> (56 - 8 * i));
    }
    return sizeof *in;
}

/* 0 when the path does not fit. */
static inline socklen_t tributary_address_unix(
    struct sockaddr_storage *out, const char *path, size_t length)
{
    struct sockaddr_un *un = (struct sockaddr_un *)out;
    memset(out, 0, sizeof *out);
    if (length == 0 || length >= sizeof un->sun_path) return 0;
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path, path, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
}

static inline uint16_t tributary_address_port(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) return ntohs(((const struct sockaddr_in *)address)->sin_port);
    return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
}

static inline uint32_t tributary_address_v4_bits(const struct sockaddr *address)
{
    return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr);
}

static inline uint64_t tributary_address_v6_half(const struct sockaddr *address, int half)
{
    const uint8_t *bytes = ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr + 8 * half;
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | bytes[i];
    return value;
}

/* ---- Sockets ---- */

static inline int tributary_close(int descriptor)
{
    return close(descriptor) < 0 ? -errno : 0;
}

/* The number of a handle's socket, or a negative error. */
static inline int tributary_descriptor_number(const uv_handle_t *handle)
{
    uv_os_fd_t descriptor;
    TRIBUTARY_FAIL(uv_fileno);
    int code = uv_fileno(handle, &descriptor);
    return code < 0 ? code : descriptor;
}

/* Makes the end of a stream a reset, which discards what the kernel has not sent. Without effect on a
   unix socket, and if the system refuses it. uv_tcp_close_reset would close the handle as well. */
static inline void tributary_reset_at_close(uv_stream_t *stream)
{
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    uv_os_fd_t descriptor;
    if (uv_fileno((const uv_handle_t *)stream, &descriptor) < 0) return;
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

/* What the next read of a stream without further bytes would return: 0 at its end, or a negative code. */
static inline int tributary_peek_end(const uv_stream_t *stream)
{
    uv_os_fd_t descriptor;
    char byte;
    int code = uv_fileno((const uv_handle_t *)stream, &descriptor);
    if (code < 0) return code;
    return recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* Whether the system has received bytes of a stream that were not read. */
static inline int tributary_has_unread(const uv_stream_t *stream)
{
    uv_os_fd_t descriptor;
    char byte;
    if (uv_fileno((const uv_handle_t *)stream, &descriptor) < 0) return 0;
    return recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

/* The bytes that the system has taken from a stream and that its peer has not acknowledged; 0 where the
   system does not tell. */
static inline int tributary_unacknowledged(const uv_stream_t *stream)
{
#ifdef __linux__
    uv_os_fd_t descriptor;
    int count = 0;
    if (uv_fileno((const uv_handle_t *)stream, &descriptor) < 0) return 0;
    return ioctl(descriptor, TIOCOUTQ, &count) < 0 ? 0 : count;
#else
    return 0;
#endif
}

/* Writes no core dump of this process. The limit of its size does not bind a program that receives dumps by a
   pipe (core(5)). Failures are ignored: the process runs as before. */
static inline void tributary_forbid_core_dumps(void)
{
    struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_CORE, &none);
#ifdef __linux__
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

/* Returns free memory to the system, which an allocator would keep for later. */
static inline void tributary_trim_memory(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* ---- The end of paused streams ---- */

/* libuv polls no stream that is not read, so that its end is not seen. On Linux a second epoll set
   watches such streams; on other systems there is none, and nothing is reported. */

/* The number of an empty set, or a negative error. */
static inline int tributary_end_watch(void)
{
#ifdef __linux__
    int watch = TRIBUTARY_SYSTEM(epoll_create1, (EPOLL_CLOEXEC));
    return watch < 0 ? -errno : watch;
#else
    return -ENOTSUP;
#endif
}

enum tributary_watched {
    TRIBUTARY_WATCHED_NOTHING,
    /* Only that the connection is lost in both directions. */
    TRIBUTARY_WATCHED_LOSS,
    /* Also that the peer sends no more. */
    TRIBUTARY_WATCHED_END,
};

/* Changes what is reported of a stream, once; the set forgets a stream that is closed. */
static inline int tributary_watch_end(
    int watch, uv_stream_t *stream, enum tributary_watched former, enum tributary_watched wanted)
{
#ifdef __linux__
    uv_os_fd_t descriptor;
    int code = uv_fileno((const uv_handle_t *)stream, &descriptor);
    if (code < 0) return code;
    struct epoll_event event = {.events = EPOLLONESHOT, .data = {.ptr = stream}};
    if (wanted == TRIBUTARY_WATCHED_END) event.events |= EPOLLRDHUP;
    int operation = wanted == TRIBUTARY_WATCHED_NOTHING ? EPOLL_CTL_DEL
        : former == TRIBUTARY_WATCHED_NOTHING ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    return TRIBUTARY_SYSTEM(epoll_ctl, (watch, operation, descriptor, &event)) < 0 ? -errno : 0;
#else
    return -ENOTSUP;
#endif
}

/* The next stream with an event, and whether it is lost; NULL if there is none. */
static inline uv_stream_t *tributary_next_end(int watch, int *lost)
{
#ifdef __linux__
    struct epoll_event event;
    if (epoll_wait(watch, &event, 1, 0) != 1) return NULL;
    *lost = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    return (uv_stream_t *)event.data.ptr;
#else
    return NULL;
#endif
}

static inline int tributary_duplicate(int descriptor)
{
    int copy = TRIBUTARY_SYSTEM(fcntl, (descriptor, F_DUPFD_CLOEXEC, 0));
    return copy < 0 ? -errno : copy;
}

static inline int tributary_set_private(int descriptor)
{
    if (TRIBUTARY_SYSTEM(fcntl, (descriptor, F_SETFD, FD_CLOEXEC)) < 0) return -errno;
    int flags = TRIBUTARY_SYSTEM(fcntl, (descriptor, F_GETFL));
    if (flags < 0) return -errno;
    return TRIBUTARY_SYSTEM(fcntl, (descriptor, F_SETFL, flags | O_NONBLOCK)) < 0 ? -errno : 0;
}

static inline int tributary_set_option(int descriptor, int level, int name)
{
    int on = 1;
    return TRIBUTARY_SYSTEM(setsockopt, (descriptor, level, name, &on, sizeof on)) < 0 ? -errno : 0;
}

/* A bound socket, not yet listening; its number, or a negative error. With `shared_port` others
   may bind the same address, if they say so too; the option must be there before bind.
   `mode` holds the permission bits for the file of a unix socket, or is negative. */
static inline int tributary_bind(
    const struct sockaddr *address, socklen_t length, int shared_port, int mode)
{
    int family = address->sa_family;
    int descriptor = TRIBUTARY_SYSTEM(socket, (family, SOCK_STREAM, 0));
    if (descriptor < 0) return -errno;
    int code = tributary_set_private(descriptor);
    if (code == 0 && family != AF_UNIX) {
        code = tributary_set_option(descriptor, SOL_SOCKET, SO_REUSEADDR);
        if (code == 0 && shared_port)
            code = tributary_set_option(descriptor, SOL_SOCKET, SO_REUSEPORT);
        /* Accepted sockets inherit it: one system call less for each connection. */
        if (code == 0) code = tributary_set_option(descriptor, IPPROTO_TCP, TCP_NODELAY);
    }
#ifdef __linux__
    /* bind creates the file with these permissions, less the umask: it is never more open than
       `tributary_set_file_access` leaves it. */
    if (code == 0 && family == AF_UNIX && mode >= 0
        && TRIBUTARY_SYSTEM(fchmod, (descriptor, (mode_t)mode)) < 0)
        code = -errno;
#endif
    if (code == 0 && TRIBUTARY_SYSTEM(bind, (descriptor, address, length)) < 0) code = -errno;
    if (code == 0) return descriptor;
    close(descriptor);
    return code;
}

/* Gives the file of a bound unix socket its group and its permissions, in this order, so that the
   permissions never apply to another group. Negative numbers leave what there is. Clients cannot
   connect before `tributary_listen`. */
static inline int tributary_set_file_access(const char *path, int mode, int64_t group)
{
    if (group >= 0 && TRIBUTARY_SYSTEM(lchown, (path, (uid_t)-1, (gid_t)group)) < 0) return -errno;
    if (mode >= 0 && TRIBUTARY_SYSTEM(chmod, (path, (mode_t)mode)) < 0) return -errno;
    return 0;
}

static inline int tributary_bound_address(int descriptor, struct sockaddr_storage *out)
{
    socklen_t length = sizeof *out;
    memset(out, 0, sizeof *out);
    int code = TRIBUTARY_SYSTEM(getsockname, (descriptor, (struct sockaddr *)out, &length));
    return code < 0 ? -errno : 0;
}

/* The path of a unix socket's address that tributary_bound_address wrote; empty for one without a
   path, such as an abstract name. */
static inline const char *tributary_address_path(const struct sockaddr_storage *address)
{
    return ((const struct sockaddr_un *)address)->sun_path;
}

/* Prepares a socket that another process has opened: 0 if it is a stream socket that listens, else a
   negative error; UV_EINVAL for anything else than that. */
static inline int tributary_adopt_listening(int descriptor)
{
    int type = 0, listens = 0;
    socklen_t length = sizeof type;
    if (TRIBUTARY_SYSTEM(getsockopt, (descriptor, SOL_SOCKET, SO_TYPE, &type, &length)) < 0)
        return -errno;
    length = sizeof listens;
    if (TRIBUTARY_SYSTEM(getsockopt, (descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length)) < 0)
        return -errno;
    if (type != SOCK_STREAM || !listens) return UV_EINVAL;
    int code = tributary_set_private(descriptor);
    struct sockaddr_storage address;
    if (code == 0) code = tributary_bound_address(descriptor, &address);
    if (code == 0 && address.ss_family != AF_UNIX)
        code = tributary_set_option(descriptor, IPPROTO_TCP, TCP_NODELAY);
    return code;
}

/* As many as the system's own limit allows (somaxconn) may wait to be accepted. */
static inline int tributary_listen(int descriptor)
{
    return TRIBUTARY_SYSTEM(listen, (descriptor, INT_MAX)) < 0 ? -errno : 0;
}

/* One waiting connection and the address of its peer; UV_EAGAIN when none waits. */
static inline int tributary_accept(int descriptor, struct sockaddr_storage *peer)
{
    int connection;
    do {
        socklen_t length = sizeof *peer;
        peer->ss_family = AF_UNSPEC;
#ifdef __linux__
        connection = TRIBUTARY_SYSTEM(
            accept4,
            (descriptor, (struct sockaddr *)peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
#else
        connection = TRIBUTARY_SYSTEM(accept, (descriptor, (struct sockaddr *)peer, &length));
#endif
    } while (connection < 0 && (errno == EINTR || errno == ECONNABORTED));
    if (connection < 0) return errno == EWOULDBLOCK ? UV_EAGAIN : -errno;
#ifndef __linux__
    int code = tributary_set_private(connection);
    if (code < 0) {
        close(connection);
        return code;
    }
#endif
    return connection;
}

/* 0 if a process listens on the unix socket, else the error. Does not wait: a full queue means
   that a process listens, too. */
static inline int tributary_probe_unix(const struct sockaddr *address, socklen_t length)
{
    int descriptor = TRIBUTARY_SYSTEM(socket, (AF_UNIX, SOCK_STREAM, 0));
    if (descriptor < 0) return -errno;
    int code = tributary_set_private(descriptor);
    if (code == 0 && TRIBUTARY_SYSTEM(connect, (descriptor, address, length)) < 0
        && errno != EAGAIN && errno != EINPROGRESS)
        code = -errno;
    close(descriptor);
    return code;
}

/* Removes a socket's file, and nothing that is not one. */
static inline int tributary_unlink_socket(const char *path)
{
    struct stat status;
    if (TRIBUTARY_SYSTEM(lstat, (path, &status)) < 0) return -errno;
    if (!S_ISSOCK(status.st_mode)) return UV_EEXIST;
    return TRIBUTARY_SYSTEM(unlink, (path)) < 0 ? -errno : 0;
}

/* ---- Process ---- */

/* A write to a closed connection must be an error, not the end of the process. The signal goes to
   the thread that wrote, so blocking it there is enough and does not affect other threads. */
static inline int tributary_block_broken_pipe(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    TRIBUTARY_FAIL(pthread_sigmask);
    return -pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* Nanoseconds since 1970; libuv has it from 1.45 on. */
static inline int64_t tributary_unix_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- Threads ---- */

static inline void tributary_name_thread(const char *name)
{
#ifdef __linux__
    prctl(PR_SET_NAME, name, 0, 0, 0);
#else
    (void)name;
#endif
}

#endif
