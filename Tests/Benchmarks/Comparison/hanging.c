// A backend that accepts every connection, reads what arrives, and never responds.
//
//   cc -O2 -o hanging hanging.c -luv
//   hanging LISTEN_PORT
#include <stdlib.h>
#include <uv.h>

static char input[4096];

static void freed(uv_handle_t *handle) { free(handle); }

static void giveInput(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    *buffer = uv_buf_init(input, sizeof input);
}

static void received(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer) {
    if (size < 0) uv_close((uv_handle_t *)stream, freed);
}

static void accepted(uv_stream_t *listener, int status) {
    uv_tcp_t *client = malloc(sizeof *client);
    uv_tcp_init(listener->loop, client);
    if (status < 0 || uv_accept(listener, (uv_stream_t *)client) != 0 ||
        uv_read_start((uv_stream_t *)client, giveInput, received) != 0)
        uv_close((uv_handle_t *)client, freed);
}

int main(int count, char **arguments) {
    if (count != 2) return 64;
    struct sockaddr_in address;
    uv_ip4_addr("127.0.0.1", atoi(arguments[1]), &address);
    uv_tcp_t listener;
    uv_tcp_init(uv_default_loop(), &listener);
    if (uv_tcp_bind(&listener, (struct sockaddr *)&address, 0) != 0 ||
        uv_listen((uv_stream_t *)&listener, 4096, accepted) != 0)
        return 1;
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
