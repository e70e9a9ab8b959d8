#ifndef PEERS_H
#define PEERS_H

#include <stddef.h>
#include <stdint.h>

/* Parses the message so many times on one connection with http_parser, whose callbacks count what they get. Returns the
   number of field lines, or -1 if it refuses the message. */
long http_parser_field_lines(const uint8_t *_Nonnull text, size_t count, int is_response, long times);

#endif
