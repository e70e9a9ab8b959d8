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

#include <stdint.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/buffer.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
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
    /* No cache of sessions, and an idle connection keeps no buffers. */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    return (int)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

static inline int tributary_ssl_ctx_add1_chain_cert(SSL_CTX *context, X509 *certificate)
{
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

/* There is no prompt for a passphrase: a daemon has no terminal. */
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

/* ---- Servers ---- */

/* The suites of both versions, in the order of preference, and the groups; 0 when one is unknown. */
static inline int tributary_ssl_ctx_set_algorithms(
    SSL_CTX *context, const char *ciphers, const char *suites, const char *groups)
{
    /* Level 2: no RSA key below 2048 bits, no SHA-1 signature. */
    SSL_CTX_set_security_level(context, 2);
    return SSL_CTX_set_cipher_list(context, ciphers) == 1
        && SSL_CTX_set_ciphersuites(context, suites) == 1
        && SSL_CTX_set1_groups_list(context, groups) == 1;
}

static inline int tributary_ssl_ctx_set_min_version(SSL_CTX *context, int version)
{
    return (int)SSL_CTX_set_min_proto_version(context, version);
}

/* One ticket per handshake, encrypted with the keys of the process, or none. */
typedef int (*tributary_ticket_key_callback)(
    SSL *, unsigned char *, unsigned char *, EVP_CIPHER_CTX *, EVP_MAC_CTX *, int);

static inline int tributary_ssl_ctx_set_tickets(
    SSL_CTX *context, long seconds, tributary_ticket_key_callback callback)
{
    if (callback == NULL) {
        SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
        return SSL_CTX_set_num_tickets(context, 0);
    }
    SSL_CTX_set_timeout(context, seconds);
    return SSL_CTX_set_num_tickets(context, 1) == 1
        && SSL_CTX_set_tlsext_ticket_key_evp_cb(context, callback) == 1;
}

enum { TRIBUTARY_TICKET_NAME = 16, TRIBUTARY_TICKET_KEY = 32 };

/* Prepares the encryption (1) or decryption (0) of a ticket with AES-256-CBC and HMAC-SHA-256. */
static inline int tributary_ticket_begin(
    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, const unsigned char *cipher_key,
    const unsigned char *mac_key, unsigned char *iv, int encrypts)
{
    OSSL_PARAM parameters[3];
    parameters[0] = OSSL_PARAM_construct_octet_string(
        OSSL_MAC_PARAM_KEY, (void *)(uintptr_t)mac_key, TRIBUTARY_TICKET_KEY);
    parameters[1] = OSSL_PARAM_construct_utf8_string(
        OSSL_MAC_PARAM_DIGEST, (char *)(uintptr_t)"SHA256", 0);
    parameters[2] = OSSL_PARAM_construct_end();
    if (EVP_MAC_CTX_set_params(mac, parameters) != 1) return 0;
    if (encrypts && RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) != 1) return 0;
    return EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, cipher_key, iv, encrypts);
}

typedef int (*tributary_server_name_callback)(SSL *, int *, void *);

static inline int tributary_ssl_ctx_set_name_callback(
    SSL_CTX *context, tributary_server_name_callback callback, void *argument)
{
    return SSL_CTX_set_tlsext_servername_callback(context, callback) == 1
        && SSL_CTX_set_tlsext_servername_arg(context, argument) == 1;
}

static inline int tributary_ssl_set_app_data(SSL *ssl, void *data)
{
    return SSL_set_app_data(ssl, data);
}

static inline void *tributary_ssl_app_data(const SSL *ssl) { return SSL_get_app_data(ssl); }

/* ---- Memory ---- */

/* The allocated bytes of a memory BIO. */
static inline size_t tributary_bio_capacity(BIO *bio)
{
    BUF_MEM *memory = NULL;
    BIO_get_mem_ptr(bio, &memory);
    return memory == NULL ? 0 : memory->max;
}

/* Frees the memory of an empty memory BIO, which keeps the most it ever held; 0 when there is none. */
static inline int tributary_bio_shrink(BIO *bio)
{
    BUF_MEM *memory = BUF_MEM_new();
    if (memory == NULL) return 0;
    return (int)BIO_set_mem_buf(bio, memory, BIO_CLOSE);
}

/* Drops the bytes of a memory BIO. */
static inline void tributary_bio_discard(BIO *bio) { (void)BIO_reset(bio); }

/* Whether a record was received in part, for which OpenSSL holds a buffer. The state tells it where only the
   header of the record has arrived, which SSL_has_pending does not count. */
static inline int tributary_ssl_holds_record(const SSL *ssl)
{
    return SSL_has_pending(ssl) == 1 || strcmp(SSL_rstate_string(ssl), "RB") == 0;
}

/* ---- Certificates ---- */

static inline STACK_OF(X509) *tributary_chain_new(void) { return sk_X509_new_null(); }

/* The chain holds a reference of its own. */
static inline int tributary_chain_append(STACK_OF(X509) *chain, X509 *certificate)
{
    if (sk_X509_push(chain, certificate) <= 0) return 0;
    return X509_up_ref(certificate);
}

static inline void tributary_chain_free(STACK_OF(X509) *chain)
{
    sk_X509_pop_free(chain, X509_free);
}

/* The certificate's alternative names (RFC 5280 4.2.1.6); NULL without any. */
static inline GENERAL_NAMES *tributary_names_open(const X509 *certificate)
{
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

static inline int tributary_names_count(const GENERAL_NAMES *names)
{
    return sk_GENERAL_NAME_num(names);
}

/* One name, if it is of this type (GEN_DNS or GEN_URI); else NULL. */
static inline const unsigned char *tributary_name_text(
    const GENERAL_NAMES *names, int index, int type, int *length)
{
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    if (name == NULL || name->type != type) return NULL;
    *length = ASN1_STRING_length(name->d.ia5);
    return ASN1_STRING_get0_data(name->d.ia5);
}

static inline void tributary_names_free(GENERAL_NAMES *names) { GENERAL_NAMES_free(names); }

/* The end of the validity; 0 when it cannot be read. */
static inline int tributary_not_after(
    const X509 *certificate, int *year, int *month, int *day, int *seconds)
{
    struct tm time;
    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) != 1) return 0;
    *year = time.tm_year + 1900;
    *month = time.tm_mon + 1;
    *day = time.tm_mday;
    *seconds = time.tm_hour * 3600 + time.tm_min * 60 + time.tm_sec;
    return 1;
}

/* Whether clients require a stapled OCSP response (RFC 7633). */
static inline int tributary_must_staple(const X509 *certificate)
{
    return X509_get_ext_by_NID(certificate, NID_tlsfeature, -1) >= 0;
}

/* The subject in one line (RFC 2253); the caller frees it. */
static inline char *tributary_subject(const X509 *certificate, long *length)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *start = NULL;
    char *text = NULL;
    if (bio == NULL) return NULL;
    if (X509_NAME_print_ex(bio, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) >= 0) {
        *length = BIO_get_mem_data(bio, &start);
        text = *length > 0 ? (char *)OPENSSL_memdup(start, (size_t)*length) : NULL;
    }
    BIO_free(bio);
    return text;
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
