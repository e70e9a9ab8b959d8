#include "CByteClasses.h"

/* The compiler turns operations on vectors of sixty-four bytes into instructions of the processor: four operations on
   sixteen bytes each with SSE2 and NEON, two with AVX2, one with AVX-512. */
typedef uint8_t bytes __attribute__((ext_vector_type(64)));
typedef uint8_t unaligned_bytes __attribute__((ext_vector_type(64), aligned(1)));
typedef _Bool bits __attribute__((ext_vector_type(64)));

#define INLINE static inline __attribute__((always_inline))

/* A macro, because without AVX-512 functions have no register for an argument of this size. */
#define MASK(comparison) __builtin_bit_cast(uint64_t, __builtin_convertvector(comparison, bits))

INLINE void load(const uint8_t *text, size_t count, bytes *block) {
    if (count < 64) {
        *block = ' ';
        __builtin_memcpy(block, text, count);
    } else {
        *block = *(const unaligned_bytes *)text;
    }
}

INLINE void tokens(const uint8_t *text, size_t count, struct tributary_tokens *to) {
    for (size_t at = 0; at < count; at += 64, to++) {
        bytes block;
        load(text + at, count - at, &block);
        to->quotes = MASK(block == '"');
        to->backslashes = MASK(block == '\\');
        to->spaces = MASK(block == ' ');
        to->commas = MASK(block == ',');
        to->colons = MASK(block == ':');
        to->digits = MASK((uint8_t)'0' <= block && block <= (uint8_t)'9');
        to->zeros = MASK(block == '0');
        to->dots = MASK(block == '.');
        to->brackets = MASK(((block | 0x20) == '{') | ((block | 0x20) == '}'));
        to->controls = MASK(block < ' ');
        to->non_ascii = MASK(block >= 0x80);
    }
}

#define ENDS_STRING_PART(block) ((block) == '"') | ((block) == '\\') | ((block) < ' ')

INLINE int utf8(const uint8_t *text, size_t count, struct tributary_utf8 *to) {
    bytes block;
    load(text, count, &block);
    to->from_80 = MASK(block >= 0x80);
    to->from_a0 = MASK(block >= 0xA0);
    to->from_c0 = MASK(block >= 0xC0);
    to->from_e0 = MASK(block >= 0xE0);
    to->from_f0 = MASK(block >= 0xF0);
    to->e0 = MASK(block == 0xE0);
    to->special = MASK(((block & 0xFE) == 0xC0) | (block == 0xED) | (block >= 0xF0));
    return MASK(ENDS_STRING_PART(block)) == 0;
}

INLINE size_t plain(const uint8_t *text, size_t count) {
    size_t at = 0;
    for (; at + 64 <= count; at += 64) {
        bytes block = *(const unaligned_bytes *)(text + at);
        if (MASK(ENDS_STRING_PART(block) | (block >= 0x80)) != 0) break;
    }
    return at;
}

#define CLASSIFIER(name, instructions) \
    instructions static void name##_tokens(const uint8_t *text, size_t count, struct tributary_tokens *to) { \
        tokens(text, count, to); \
    } \
    instructions static int name##_utf8(const uint8_t *text, size_t count, struct tributary_utf8 *to) { \
        return utf8(text, count, to); \
    } \
    instructions static size_t name##_plain(const uint8_t *text, size_t count) { return plain(text, count); }

#define FUNCTIONS(name) {name##_tokens, name##_utf8, name##_plain}

/* What every processor of the architecture has: SSE2, NEON, or no vectors at all. */
CLASSIFIER(base, )
#ifdef __x86_64__
CLASSIFIER(avx2, __attribute__((target("avx2"))))
CLASSIFIER(avx512, __attribute__((target("avx512bw,avx512vl"), min_vector_width(512))))

static const struct tributary_classifier classifiers[] = {FUNCTIONS(base), FUNCTIONS(avx2), FUNCTIONS(avx512)};

size_t tributary_classifier_count(void) {
    if (!__builtin_cpu_supports("avx2")) return 1;
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") ? 3 : 2;
}
#else
static const struct tributary_classifier classifiers[] = {FUNCTIONS(base)};

size_t tributary_classifier_count(void) { return 1; }
#endif

const struct tributary_classifier *tributary_classifier_at(size_t index) { return &classifiers[index]; }
