#ifndef TRIBUTARY_COPENSSL_SHIM_H
#define TRIBUTARY_COPENSSL_SHIM_H

#if __has_include(<openssl/ssl.h>)
#include <openssl/ssl.h>
#else
#error "OpenSSL's headers are missing: run script/deps (Debian/Ubuntu: apt-get install libssl-dev; macOS: brew install openssl@3; Fedora: dnf install openssl-devel)"
#endif

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "OpenSSL 3.0 or newer is needed"
#endif

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

/* What OpenSSL offers as macros, which Swift does not see, each under the name tributary_<its own>. */

/* ---- Contexts ---- */

/* What both sides of every connection are held to; 0 when it cannot be set. */
static inline int tributary_ssl_ctx_harden(SSL_CTX *context)
{
    /* Renegotiation (TLS 1.2) would make a write wait for a read, and it is not needed. */
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    /* Sessions are not resumed, and an idle connection keeps no buffers. */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

static inline int tributary_ssl_ctx_add1_chain_cert(SSL_CTX *context, X509 *certificate)
{
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

/* A passphrase is never asked for: a daemon has no terminal. */
static inline int tributary_no_passphrase(char *buffer, int size, int writing, void *data)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)data;
    return -1;
}

static inline EVP_PKEY *tributary_pem_read_key(BIO *bio)
{
    return PEM_read_bio_PrivateKey(bio, NULL, tributary_no_passphrase, NULL);
}

static inline X509 *tributary_pem_read_certificate(BIO *bio)
{
    /* With its trust settings if it has any, which are then void as everywhere else. */
    return PEM_read_bio_X509(bio, NULL, tributary_no_passphrase, NULL);
}

static inline void tributary_openssl_free(void *memory) { OPENSSL_free(memory); }

/* ---- Connections ---- */

static inline int tributary_ssl_set_name(SSL *ssl, const char *name)
{
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

/* ---- Errors ---- */

static inline int tributary_err_lib(unsigned long error) { return ERR_GET_LIB(error); }

static inline int tributary_err_reason(unsigned long error) { return ERR_GET_REASON(error); }

#endif
