// The least that an aggregation gateway on libuv does: one thread, kept connections to the backends, one read for a
// response, one write of all pieces. It parses nothing: it takes the path from fixed places and learns the length of
// each backend's responses from the first one. `script/bench` expresses the costs of gateways as multiples of it.
//
//   cc -O2 -o floor floor.c -luv
//   floor LISTEN_PORT HANGING_PORT BACKEND_PORT...
//
//   GET /one/SIZE, /proxy/SIZE    the response of the first backend; SIZE is small, medium or large
//   GET /calls/COUNT/SIZE         {"b1":<body of backend 1>,...} of that many backends
//   GET /e/...                    as /calls/3/small
//   GET /hang                     as /calls/2/small, after a third call has not been answered for 200 ms
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { maxBackends = 16, hanging = maxBackends, maxCalls = 16, sizes = 3, timeoutMs = 200, inputBytes = 48 * 1024 };

static const char *const sizeNames[sizes] = {"small", "medium", "large"};

// A connection to a backend: idle in its stack, or in use for the request of `client`, which is NULL if it has left.
struct connection {
    uv_tcp_t handle;
    uv_connect_t connecting;
    struct client *client;
    struct connection *next;
    int isInUse;
    int backend;
    int size;
    size_t received;
    char input[inputBytes];
};

// A connection of a client, with at most one request. What only a request needs is in `exchange`.
struct client {
    uv_tcp_t handle;
    struct exchange *exchange;
};

struct exchange {
    uv_timer_t timer;
    struct client *client;
    struct connection *calls[maxCalls];
    int count;
    int waiting;
    int isPlain;
    int hangs;
    struct exchange *next;
};

struct lengths {
    size_t head;
    size_t total;
};

static uv_loop_t *loop;
static struct sockaddr_in addresses[maxBackends + 1];
static struct connection *idle[maxBackends + 1];
static struct exchange *freeExchanges;
static struct lengths learned[maxBackends + 1][sizes];
static char requests[sizes][128];
static char names[maxCalls][16];
static char clientInput[65536];

static void startCall(struct exchange *exchange, int index, int backend, int size);

static void freed(uv_handle_t *handle) { free(handle->data); }

// MARK: Responses

static void freeWrite(uv_write_t *request, int status) { free(request); }

// Writes the pieces at once, and copies what the socket does not take.
static void writePieces(struct client *client, uv_buf_t *pieces, int count, size_t total) {
    int sent = uv_try_write((uv_stream_t *)&client->handle, pieces, count);
    size_t begin = sent > 0 ? (size_t)sent : 0;
    if (begin == total || (sent < 0 && sent != UV_EAGAIN)) return;
    uv_write_t *rest = malloc(sizeof *rest + total - begin);
    char *bytes = (char *)(rest + 1), *end = bytes;
    for (int i = 0; i < count; i++) {
        size_t skipped = begin < pieces[i].len ? begin : pieces[i].len;
        memcpy(end, pieces[i].base + skipped, pieces[i].len - skipped);
        end += pieces[i].len - skipped;
        begin -= skipped;
    }
    uv_buf_t buffer = uv_buf_init(bytes, (unsigned)(end - bytes));
    if (uv_write(rest, (uv_stream_t *)&client->handle, &buffer, 1, freeWrite) != 0) free(rest);
}

static void release(struct connection *connection) {
    connection->client = NULL;
    connection->isInUse = 0;
    connection->received = 0;
    connection->next = idle[connection->backend];
    idle[connection->backend] = connection;
}

static void finish(struct exchange *exchange) {
    exchange->client->exchange = NULL;
    exchange->next = freeExchanges;
    freeExchanges = exchange;
}

static void respond(struct exchange *exchange) {
    uv_buf_t pieces[2 * maxCalls + 2];
    char head[128];
    int count = 1;
    size_t length = 0;
    for (int i = 0; i < exchange->count; i++) {
        struct connection *call = exchange->calls[i];
        struct lengths *sizes = &learned[call->backend][call->size];
        if (!exchange->isPlain) {
            pieces[count++] = uv_buf_init(names[i], strlen(names[i]));
            length += strlen(names[i]);
        }
        pieces[count++] = uv_buf_init(call->input + sizes->head, sizes->total - sizes->head);
        length += sizes->total - sizes->head;
    }
    if (!exchange->isPlain) {
        pieces[count++] = uv_buf_init("}", 1);
        length += 1;
    }
    int headLength = snprintf(
        head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n", length);
    pieces[0] = uv_buf_init(head, headLength);
    writePieces(exchange->client, pieces, count, headLength + length);
    for (int i = 0; i < exchange->count; i++) release(exchange->calls[i]);
    finish(exchange);
}

// MARK: Backends

static void closeConnection(struct connection *connection) {
    if (!uv_is_closing((uv_handle_t *)&connection->handle)) uv_close((uv_handle_t *)&connection->handle, freed);
}

static void giveInput(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    struct connection *connection = handle->data;
    *buffer = uv_buf_init(connection->input + connection->received, inputBytes - connection->received);
}

// The lengths of a response, from the first of its kind; they are the same for all that follow.
static void learn(struct connection *connection) {
    struct lengths *lengths = &learned[connection->backend][connection->size];
    connection->input[connection->received] = 0;
    char *end = strstr(connection->input, "\r\n\r\n"), *field = strcasestr(connection->input, "\r\nContent-Length:");
    if (!end || !field || field > end) return;
    lengths->head = end + 4 - connection->input;
    lengths->total = lengths->head + strtoul(field + strlen("\r\nContent-Length:"), NULL, 10);
    if (lengths->total >= inputBytes) exit(1);
}

static void removeFromStack(struct connection *connection) {
    for (struct connection **at = &idle[connection->backend]; *at; at = &(*at)->next) {
        if (*at == connection) {
            *at = connection->next;
            return;
        }
    }
}

static void receivedResponse(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer) {
    struct connection *connection = stream->data;
    if (size < 0) {
        if (connection->isInUse) {
            fprintf(stderr, "floor: a backend closed a connection in use\n");
            exit(1);
        }
        removeFromStack(connection);
        return closeConnection(connection);
    }
    if (!connection->isInUse || connection->backend == hanging) return;
    connection->received += size;
    struct lengths *lengths = &learned[connection->backend][connection->size];
    if (lengths->total == 0) learn(connection);
    if (lengths->total == 0 || connection->received < lengths->total) return;
    if (!connection->client) return release(connection);
    struct exchange *exchange = connection->client->exchange;
    if (--exchange->waiting == 0) respond(exchange);
}

static void sendRequest(struct connection *connection) {
    uv_buf_t buffer = uv_buf_init(requests[connection->size], strlen(requests[connection->size]));
    if (uv_try_write((uv_stream_t *)&connection->handle, &buffer, 1) != (int)buffer.len) exit(1);
}

static void connectedToBackend(uv_connect_t *request, int status) {
    struct connection *connection = request->data;
    if (status == UV_ECANCELED) return;
    if (status < 0) {
        fprintf(stderr, "floor: %s\n", uv_strerror(status));
        exit(1);
    }
    uv_tcp_nodelay(&connection->handle, 1);
    uv_read_start((uv_stream_t *)&connection->handle, giveInput, receivedResponse);
    sendRequest(connection);
}

static struct connection *newConnection(int backend) {
    struct connection *connection = malloc(sizeof *connection);
    uv_tcp_init(loop, &connection->handle);
    connection->handle.data = connection;
    connection->connecting.data = connection;
    connection->backend = backend;
    connection->received = 0;
    return connection;
}

static void startCall(struct exchange *exchange, int index, int backend, int size) {
    struct connection *connection = idle[backend];
    int isNew = connection == NULL;
    if (isNew) {
        connection = newConnection(backend);
    } else {
        idle[backend] = connection->next;
    }
    connection->client = exchange->client;
    connection->isInUse = 1;
    connection->size = size;
    exchange->calls[index] = connection;
    if (!isNew) return sendRequest(connection);
    const struct sockaddr *address = (const struct sockaddr *)&addresses[backend];
    if (uv_tcp_connect(&connection->connecting, &connection->handle, address, connectedToBackend) != 0) exit(1);
}

// MARK: Clients

static struct exchange *newExchange(struct client *client) {
    struct exchange *exchange = freeExchanges;
    if (exchange) {
        freeExchanges = exchange->next;
    } else {
        exchange = malloc(sizeof *exchange);
        uv_timer_init(loop, &exchange->timer);
        exchange->timer.data = exchange;
    }
    exchange->client = client;
    exchange->hangs = 0;
    client->exchange = exchange;
    return exchange;
}

// The third call is not answered: respond with the other two.
static void timedOut(uv_timer_t *timer) {
    struct exchange *exchange = timer->data;
    closeConnection(exchange->calls[2]);
    exchange->count = 2;
    exchange->hangs = 0;
    if (--exchange->waiting == 0) respond(exchange);
}

static int sizeOf(const char *text) { return *text == 's' ? 0 : *text == 'm' ? 1 : 2; }

static void startRequest(struct client *client, const char *path) {
    struct exchange *exchange = newExchange(client);
    int size = 0;
    exchange->count = 3;
    exchange->isPlain = 0;
    switch (path[1]) {
    case 'o': // one
    case 'p': // proxy
        exchange->isPlain = exchange->count = 1;
        size = sizeOf(path + (path[1] == 'o' ? 5 : 7));
        break;
    case 'c': // calls
        exchange->count = path[7] - '0';
        if (path[8] != '/') exchange->count = exchange->count * 10 + path[8] - '0';
        size = sizeOf(path + (path[8] == '/' ? 9 : 10));
        break;
    case 'h':
        exchange->hangs = 1;
        uv_timer_start(&exchange->timer, timedOut, timeoutMs, 0);
    }
    if (exchange->count < 1 || exchange->count > maxCalls) exit(1);
    exchange->waiting = exchange->count;
    for (int i = 0; i < exchange->count; i++) startCall(exchange, i, exchange->hangs && i == 2 ? hanging : i, size);
}

// Leaves the calls of a client that has left: their connections are idle after the responses.
static void abandon(struct exchange *exchange) {
    uv_timer_stop(&exchange->timer);
    for (int i = 0; i < exchange->count; i++) {
        struct connection *call = exchange->calls[i];
        struct lengths *lengths = &learned[call->backend][call->size];
        call->client = NULL;
        if (call->backend == hanging) {
            closeConnection(call);
        } else if (lengths->total != 0 && call->received == lengths->total) {
            release(call);
        }
    }
    finish(exchange);
}

static void closeClient(struct client *client) {
    if (client->exchange) abandon(client->exchange);
    if (!uv_is_closing((uv_handle_t *)&client->handle)) uv_close((uv_handle_t *)&client->handle, freed);
}

static void giveClientInput(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    *buffer = uv_buf_init(clientInput, sizeof clientInput);
}

static void receivedRequest(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer) {
    struct client *client = stream->data;
    if (size < 0) return closeClient(client);
    if (size > 4) startRequest(client, buffer->base + 4);
}

static void accepted(uv_stream_t *listener, int status) {
    if (status < 0) return;
    struct client *client = malloc(sizeof *client);
    uv_tcp_init(loop, &client->handle);
    client->handle.data = client;
    client->exchange = NULL;
    if (uv_accept(listener, (uv_stream_t *)&client->handle) != 0) return closeClient(client);
    uv_tcp_nodelay(&client->handle, 1);
    uv_read_start((uv_stream_t *)&client->handle, giveClientInput, receivedRequest);
}

int main(int count, char **arguments) {
    if (count < 4 || count > 3 + maxBackends) return 64;
    loop = uv_default_loop();
    for (int i = 0; i < sizes; i++)
        snprintf(requests[i], sizeof requests[i], "GET /%s HTTP/1.1\r\nHost: backend\r\n\r\n", sizeNames[i]);
    for (int i = 0; i < maxCalls; i++) snprintf(names[i], sizeof names[i], "%s\"b%d\":", i == 0 ? "{" : ",", i + 1);
    uv_ip4_addr("127.0.0.1", atoi(arguments[2]), &addresses[hanging]);
    for (int i = 3; i < count; i++) uv_ip4_addr("127.0.0.1", atoi(arguments[i]), &addresses[i - 3]);
    struct sockaddr_in address;
    uv_ip4_addr("127.0.0.1", atoi(arguments[1]), &address);
    uv_tcp_t listener;
    uv_tcp_init(loop, &listener);
    if (uv_tcp_bind(&listener, (struct sockaddr *)&address, 0) != 0 ||
        uv_listen((uv_stream_t *)&listener, 4096, accepted) != 0)
        return 1;
    return uv_run(loop, UV_RUN_DEFAULT);
}
