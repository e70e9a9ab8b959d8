// The least that a TLS server on libuv and OpenSSL does: one thread, memory BIOs, a fixed response for every read that
// ends a request. It parses nothing. tls_cost.py compares the gateway with it.
//
//   cc -O2 -o tls-floor tls-floor.c -luv -lssl -lcrypto
//   tls-floor PLAIN_PORT TLS_PORT CERTIFICATE KEY
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

static const char response[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";
static SSL_CTX *context;
static char input[65536];

struct connection {
    uv_tcp_t handle;
    SSL *ssl; // NULL on the plain port
};

struct output {
    uv_write_t request;
    size_t size;
    char bytes[];
};

static void closed(uv_handle_t *handle) {
    struct connection *connection = handle->data;
    if (connection->ssl) SSL_free(connection->ssl);
    free(connection);
}

static void finish(struct connection *connection) {
    if (!uv_is_closing((uv_handle_t *)&connection->handle)) uv_close((uv_handle_t *)&connection->handle, closed);
}

static void written(uv_write_t *request, int status) {
    struct connection *connection = request->handle->data;
    free(request->data);
    if (status < 0) finish(connection);
}

static void send_bytes(struct connection *connection, const char *bytes, size_t size) {
    uv_buf_t buffer = uv_buf_init((char *)bytes, size);
    int sent = uv_try_write((uv_stream_t *)&connection->handle, &buffer, 1);
    if (sent == (int)size) return;
    if (sent < 0 && sent != UV_EAGAIN) return finish(connection);
    size_t begin = sent > 0 ? sent : 0;
    struct output *output = malloc(sizeof *output + size - begin);
    memcpy(output->bytes, bytes + begin, size - begin);
    output->request.data = output;
    buffer = uv_buf_init(output->bytes, size - begin);
    if (uv_write(&output->request, (uv_stream_t *)&connection->handle, &buffer, 1, written) != 0) {
        free(output);
        finish(connection);
    }
}

// Sends what OpenSSL has written into its output BIO.
static void flush_tls(struct connection *connection) {
    char bytes[20000];
    int size;
    while ((size = BIO_read(SSL_get_wbio(connection->ssl), bytes, sizeof bytes)) > 0)
        send_bytes(connection, bytes, size);
}

static void respond(struct connection *connection, const char *bytes, ssize_t size) {
    if (size < 4 || memcmp(bytes + size - 4, "\r\n\r\n", 4) != 0) return;
    if (connection->ssl)
        SSL_write(connection->ssl, response, sizeof response - 1);
    else
        send_bytes(connection, response, sizeof response - 1);
}

static void received(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer) {
    struct connection *connection = stream->data;
    if (size <= 0) {
        if (size < 0) finish(connection);
        return;
    }
    if (!connection->ssl) return respond(connection, buffer->base, size);
    BIO_write(SSL_get_rbio(connection->ssl), buffer->base, size);
    if (!SSL_is_init_finished(connection->ssl)) SSL_do_handshake(connection->ssl);
    char plain[16384];
    int count = 0;
    while (SSL_is_init_finished(connection->ssl) && (count = SSL_read(connection->ssl, plain, sizeof plain)) > 0)
        respond(connection, plain, count);
    flush_tls(connection);
    if (count <= 0 && SSL_get_error(connection->ssl, count) == SSL_ERROR_ZERO_RETURN) finish(connection);
}

static void provide(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    *buffer = uv_buf_init(input, sizeof input);
}

static void accepted(uv_stream_t *listener, int status) {
    struct connection *connection = calloc(1, sizeof *connection);
    uv_tcp_init(listener->loop, &connection->handle);
    connection->handle.data = connection;
    if (status < 0 || uv_accept(listener, (uv_stream_t *)&connection->handle) != 0) return finish(connection);
    uv_tcp_nodelay(&connection->handle, 1);
    if (listener->data) {
        connection->ssl = SSL_new(context);
        SSL_set_bio(connection->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        SSL_set_accept_state(connection->ssl);
    }
    uv_read_start((uv_stream_t *)&connection->handle, provide, received);
}

static void start(uv_tcp_t *listener, int port, int is_tls) {
    struct sockaddr_in address;
    uv_ip4_addr("127.0.0.1", port, &address);
    uv_tcp_init(uv_default_loop(), listener);
    listener->data = is_tls ? listener : NULL;
    if (uv_tcp_bind(listener, (struct sockaddr *)&address, 0) != 0 ||
        uv_listen((uv_stream_t *)listener, 1024, accepted) != 0)
        exit(1);
}

int main(int count, char **arguments) {
    if (count != 5) return 64;
    context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_num_tickets(context, 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384");
    if (SSL_CTX_use_certificate_chain_file(context, arguments[3]) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, arguments[4], SSL_FILETYPE_PEM) != 1)
        return 1;
    uv_tcp_t plain, secure;
    start(&plain, atoi(arguments[1]), 0);
    start(&secure, atoi(arguments[2]), 1);
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
