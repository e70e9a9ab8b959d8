#ifndef TRIBUTARY_CBYTECLASSES_H
#define TRIBUTARY_CBYTECLASSES_H

/* Classifies sixty-four bytes of text at once: for each class a mask with one bit for each byte, the bit of the first
   byte lowest. The scanner of JSON works on these masks. */

#include "FirstByte.h"
#include "HexDigits.h"
#include <stddef.h>
#include <stdint.h>

/* The bytes that JSON's grammar distinguishes. */
struct tributary_tokens {
    uint64_t quotes, backslashes, spaces, commas, colons, brackets, digits, zeros, dots;
    /* Below the space. */
    uint64_t controls;
    uint64_t non_ascii;
};

/* What the rules for UTF-8 distinguish (Unicode, table 3-7). "from" includes all bytes above. */
struct tributary_utf8 {
    uint64_t from_80, from_a0, from_c0, from_e0, from_f0;
    uint64_t e0;
    /* First bytes with a rule of their own: C0 and C1, ED, F0 and above. */
    uint64_t special;
};

/* One implementation for each instruction set. */
struct tributary_classifier {
    /* Writes one element for each sixty-four bytes; missing bytes at the end count as spaces. */
    void (*_Nonnull tokens)(const uint8_t *_Nonnull text, size_t count, struct tributary_tokens *_Nonnull blocks);
    /* Classifies one block; missing bytes count as spaces. Returns whether the block can be a part of the inside of
       a string: it has no quote, backslash or control byte. */
    int (*_Nonnull utf8)(const uint8_t *_Nonnull text, size_t count, struct tributary_utf8 *_Nonnull block);
    /* How many of the first bytes are plain inside strings, in steps of sixty-four: no quote, backslash, control
       byte, or byte of a UTF-8 sequence. */
    size_t (*_Nonnull plain)(const uint8_t *_Nonnull text, size_t count);
};

/* The implementations that this processor can execute, the fastest one last. */
size_t tributary_classifier_count(void);
const struct tributary_classifier *_Nonnull tributary_classifier_at(size_t index);

#endif
