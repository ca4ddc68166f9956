// Elements that are moved as they are: four bytes, or two (WORD_16).
#if defined(WORD_16)
#define WORD uint16_t
#define WORD_AT(offset) ((offset) >> 1)
#else
#define WORD uint
#define WORD_AT(offset) ((offset) >> 2)
#endif
