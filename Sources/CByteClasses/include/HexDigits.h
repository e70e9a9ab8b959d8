#ifndef TRIBUTARY_HEXDIGITS_H
#define TRIBUTARY_HEXDIGITS_H

#include "FirstByte.h"

/* Sixteen hexadecimal digits, the first one lowest in the first word. */
struct tributary_hex_digits {
    uint64_t first, second;
};

/* In the header for the same reason as the functions of FirstByte.h. */
static inline struct tributary_hex_digits tributary_hex_digits(uint64_t value) {
    typedef uint8_t bytes8 __attribute__((ext_vector_type(8)));
    union {
        tributary_bytes16 bytes;
        struct tributary_hex_digits words;
    } digits;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    bytes8 bytes = __builtin_bit_cast(bytes8, value), high = bytes >> 4, low = bytes & 15;
    tributary_bytes16 nibbles =
        __builtin_shufflevector(high, low, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    tributary_bytes16 are_letters = (tributary_bytes16)((tributary_signed16)nibbles > 9);
    digits.bytes = nibbles + '0' + (are_letters & ('a' - '0' - 10));
    return digits.words;
}

#endif
