// The least that a relay on libuv does: one thread, one backend connection for each client connection, bytes passed on
// as they come, with back-pressure. It parses nothing. relay_cost.py compares the gateway with it.
//
//   cc -O2 -o relay-floor relay-floor.c -luv
//   relay-floor LISTEN_PORT BACKEND_PORT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static struct sockaddr_in backend;
static char input[65536];

// One end of a relayed connection. What it receives goes to `other`.
struct side {
    uv_tcp_t handle;
    struct side *other;
    uv_connect_t connecting;
    int is_connected;
};

struct output {
    uv_write_t request;
    char bytes[];
};

static void closed(uv_handle_t *handle) { free(handle->data); }

static void close_side(struct side *side) {
    if (!uv_is_closing((uv_handle_t *)&side->handle)) uv_close((uv_handle_t *)&side->handle, closed);
}

static void finish(struct side *side) {
    struct side *other = side->other;
    side->other = NULL;
    close_side(side);
    if (other) {
        other->other = NULL;
        close_side(other);
    }
}

static void provide(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    *buffer = uv_buf_init(input, sizeof input);
}

static void received(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer);

static void written(uv_write_t *request, int status) {
    struct side *to = request->handle->data;
    free(request->data);
    if (status < 0) return finish(to);
    if (to->other) uv_read_start((uv_stream_t *)&to->other->handle, provide, received);
}

static void received(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer) {
    struct side *side = stream->data;
    if (size < 0 || !side->other) return finish(side);
    if (size == 0) return;
    struct side *to = side->other;
    uv_buf_t bytes = uv_buf_init(buffer->base, size);
    int sent = to->is_connected ? uv_try_write((uv_stream_t *)&to->handle, &bytes, 1) : 0;
    if (sent == size) return;
    if (sent < 0 && sent != UV_EAGAIN) return finish(side);
    size_t begin = sent > 0 ? sent : 0;
    struct output *output = malloc(sizeof *output + size - begin);
    memcpy(output->bytes, buffer->base + begin, size - begin);
    output->request.data = output;
    bytes = uv_buf_init(output->bytes, size - begin);
    uv_read_stop(stream); // until the rest has been written
    if (uv_write(&output->request, (uv_stream_t *)&to->handle, &bytes, 1, written) != 0) {
        free(output);
        finish(side);
    }
}

static void connected(uv_connect_t *request, int status) {
    struct side *side = request->data;
    if (status < 0 || !side->other) return finish(side);
    side->is_connected = 1;
    uv_read_start((uv_stream_t *)&side->handle, provide, received);
    uv_read_start((uv_stream_t *)&side->other->handle, provide, received);
}

static struct side *new_side(uv_loop_t *loop) {
    struct side *side = calloc(1, sizeof *side);
    uv_tcp_init(loop, &side->handle);
    side->handle.data = side;
    return side;
}

static void accepted(uv_stream_t *listener, int status) {
    struct side *client = new_side(listener->loop);
    if (status < 0 || uv_accept(listener, (uv_stream_t *)&client->handle) != 0) return close_side(client);
    struct side *server = new_side(listener->loop);
    client->is_connected = 1;
    client->other = server;
    server->other = client;
    uv_tcp_nodelay(&client->handle, 1);
    uv_tcp_nodelay(&server->handle, 1);
    server->connecting.data = server;
    if (uv_tcp_connect(&server->connecting, &server->handle, (struct sockaddr *)&backend, connected) != 0)
        finish(client);
}

int main(int count, char **arguments) {
    if (count != 3) return 64;
    struct sockaddr_in address;
    uv_ip4_addr("127.0.0.1", atoi(arguments[1]), &address);
    uv_ip4_addr("127.0.0.1", atoi(arguments[2]), &backend);
    uv_tcp_t listener;
    uv_tcp_init(uv_default_loop(), &listener);
    if (uv_tcp_bind(&listener, (struct sockaddr *)&address, 0) != 0 ||
        uv_listen((uv_stream_t *)&listener, 1024, accepted) != 0)
        return 1;
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
