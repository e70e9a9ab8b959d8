#ifndef TRIBUTARY_FIRSTBYTE_H
#define TRIBUTARY_FIRSTBYTE_H

/* Finds the first byte of a text that is not in a class, sixteen bytes at a time. The parsers of HTTP's heads and
   of JSON use these functions.

   They are in the header so that the compiler inserts them into Swift code: names and values are short, and a call
   would cost as much as a block. No function reads a byte outside of the text. */

#include <stddef.h>
#include <stdint.h>

/* One register with SSE2 and with NEON. */
typedef uint8_t tributary_bytes16 __attribute__((ext_vector_type(16)));
typedef uint8_t tributary_unaligned16 __attribute__((ext_vector_type(16), aligned(1)));
typedef int8_t tributary_signed16 __attribute__((ext_vector_type(16)));
typedef _Bool tributary_bits16 __attribute__((ext_vector_type(16)));

/* One bit for each byte, the first byte's bit lowest. */
#define TRIBUTARY_MASK16(comparison) \
    (unsigned)__builtin_bit_cast(uint16_t, __builtin_convertvector(comparison, tributary_bits16))

/* Whether a byte is outside of a range of bytes. Signed, because SSE2 compares no unsigned bytes. */
#define TRIBUTARY_IS_OUTSIDE(block, first, length) \
    ((tributary_signed16)((tributary_bytes16)((block) + (uint8_t)(0x80 - (first)))) >= (int8_t)((length) - 0x80))

/* The bytes that end each class. */
#define TRIBUTARY_ENDS_NAME(block, byte) \
    (TRIBUTARY_IS_OUTSIDE((block) | 0x20, 'a', 26) & (TRIBUTARY_IS_OUTSIDE(block, '-', 13) | ((block) == '/')))
#define TRIBUTARY_ENDS_WORD(block, byte) \
    (TRIBUTARY_IS_OUTSIDE((block) | 0x20, 'a', 26) & TRIBUTARY_IS_OUTSIDE(block, '0', 10) & ((block) != '-'))
#define TRIBUTARY_ENDS_QUERY(block, byte) \
    (TRIBUTARY_IS_OUTSIDE(block, '!', 94) | (((block) | 1) == '#') | (((block) | 2) == '>'))
#define TRIBUTARY_ENDS_PATH(block, byte) \
    (TRIBUTARY_ENDS_QUERY(block, byte) | ((block) == '?') | ((block) == '%') | ((block) == '\\'))
#define TRIBUTARY_ENDS_VALUE(block, byte) \
    ((~TRIBUTARY_IS_OUTSIDE(block, 0, ' ') & ((block) != '\t')) | ((block) == 0x7F))
/* Signed: bytes of UTF-8 sequences are below the space, too. */
#define TRIBUTARY_ENDS_PLAIN(block, byte) \
    (((tributary_signed16)(block) < ' ') | ((block) == '"') | ((block) == '\\'))
#define TRIBUTARY_IS_BYTE(block, byte) ((block) == (byte))

/* Defines a function that returns the offset of the first such byte at or after `from`, which is less than `count`;
   `count` if there is none. The one for fewer than sixteen bytes is in FirstByte.c. `pure` means that it only reads, so
   that Swift code does not retain the text for the call. */
#define TRIBUTARY_FIRST(name, ends) \
    __attribute__((pure)) size_t name##_of_few( \
        const uint8_t *_Nonnull text, size_t count, size_t from, uint8_t byte); \
    static inline __attribute__((always_inline, pure)) size_t name( \
        const uint8_t *_Nonnull text, size_t count, size_t from, uint8_t byte) { \
        if (__builtin_expect(count < 16, 0)) return name##_of_few(text, count, from, byte); \
        size_t at = from, last = count - 16; \
        for (; at <= last; at += 16) { \
            tributary_bytes16 block = *(const tributary_unaligned16 *)(text + at); \
            unsigned marks = TRIBUTARY_MASK16(ends(block, byte)); \
            if (marks != 0) return at + (size_t)__builtin_ctz(marks); \
        } \
        /* The last sixteen bytes, without those before `at`; the bit behind the last one ends every class. */ \
        tributary_bytes16 block = *(const tributary_unaligned16 *)(text + last); \
        unsigned marks = (TRIBUTARY_MASK16(ends(block, byte)) | 1u << 16) >> (at - last); \
        return at + (size_t)__builtin_ctz(marks); \
    }

/* All but letters, digits, `-` and `.`. */
TRIBUTARY_FIRST(tributary_end_of_name, TRIBUTARY_ENDS_NAME)
/* All but letters, digits and `-`. */
TRIBUTARY_FIRST(tributary_end_of_word, TRIBUTARY_ENDS_WORD)
/* All but visible ASCII without `"`, `#`, `<` and `>`. */
TRIBUTARY_FIRST(tributary_end_of_query, TRIBUTARY_ENDS_QUERY)
/* The same, and `?`, `%` and `\`. */
TRIBUTARY_FIRST(tributary_end_of_path, TRIBUTARY_ENDS_PATH)
/* Control bytes; the tab is none of them (RFC 9110 5.5). */
TRIBUTARY_FIRST(tributary_end_of_value, TRIBUTARY_ENDS_VALUE)
/* Inside of a string of JSON: quotes, backslashes, control bytes and bytes of UTF-8 sequences. */
TRIBUTARY_FIRST(tributary_end_of_plain, TRIBUTARY_ENDS_PLAIN)
TRIBUTARY_FIRST(tributary_first_byte, TRIBUTARY_IS_BYTE)

/* Returns the offset of the first quote at or after `from` that is followed by this byte or by a backslash; `count` if
   there is none. */
static inline __attribute__((always_inline, pure)) size_t tributary_first_quote_before(
    const uint8_t *_Nonnull text, size_t count, size_t from, uint8_t byte) {
    size_t at = from;
    for (; at + 16 < count; at += 16) {
        tributary_bytes16 block = *(const tributary_unaligned16 *)(text + at);
        tributary_bytes16 next = *(const tributary_unaligned16 *)(text + at + 1);
        unsigned marks = TRIBUTARY_MASK16((block == '"') & ((next == byte) | (next == '\\')));
        if (marks != 0) return at + (size_t)__builtin_ctz(marks);
    }
    for (; at + 1 < count; at++) {
        if (text[at] == '"' && (text[at + 1] == byte || text[at + 1] == '\\')) return at;
    }
    return count;
}

#endif
