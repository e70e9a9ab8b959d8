#include "FirstByte.h"

#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t load4(const uint8_t *text) {
    uint32_t word;
    __builtin_memcpy(&word, text, 4);
    return word;
}

INLINE uint64_t load8(const uint8_t *text) {
    uint64_t word;
    __builtin_memcpy(&word, text, 8);
    return word;
}

/* One to fifteen bytes, and zeros behind them. It loads words that may overlap, since the compiler calls `memcpy` for a length
   that it does not know. */
INLINE tributary_bytes16 load_few(const uint8_t *text, size_t count) {
    unsigned __int128 block;
    if (count >= 8) {
        block = load8(text) | (unsigned __int128)load8(text + count - 8) << (count - 8) * 8;
    } else if (count >= 4) {
        block = load4(text) | load4(text + count - 4) << (count - 4) * 8;
    } else {
        block = text[0] | (uint64_t)text[count / 2] << count / 2 * 8 | (uint64_t)text[count - 1] << (count - 1) * 8;
    }
    return __builtin_bit_cast(tributary_bytes16, block);
}

#define FIRST_OF_FEW(name, ends) \
    size_t name##_of_few(const uint8_t *text, size_t count, size_t from, uint8_t byte) { \
        tributary_bytes16 block = load_few(text, count); \
        /* The bit behind the last byte ends every class. */ \
        unsigned marks = (TRIBUTARY_MASK16(ends(block, byte)) | 1u << count) >> from; \
        return from + (size_t)__builtin_ctz(marks); \
    }

FIRST_OF_FEW(tributary_end_of_name, TRIBUTARY_ENDS_NAME)
FIRST_OF_FEW(tributary_end_of_word, TRIBUTARY_ENDS_WORD)
FIRST_OF_FEW(tributary_end_of_query, TRIBUTARY_ENDS_QUERY)
FIRST_OF_FEW(tributary_end_of_path, TRIBUTARY_ENDS_PATH)
FIRST_OF_FEW(tributary_end_of_value, TRIBUTARY_ENDS_VALUE)
FIRST_OF_FEW(tributary_end_of_plain, TRIBUTARY_ENDS_PLAIN)
FIRST_OF_FEW(tributary_first_byte, TRIBUTARY_IS_BYTE)
