#ifndef PEERS_H
#define PEERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The implementation that simdjson chose for this processor, and its version. */
const char *simdjson_kernel(void);
const char *simdjson_version(void);

/* Whether the text is valid. Sixty-four more bytes must be readable. */
int simdjson_validates(const uint8_t *text, size_t count);

const char *yyjson_version_text(void);
int yyjson_validates(const uint8_t *text, size_t count);

#ifdef __cplusplus
}
#endif

#endif
