// The decoders of stb_image, compiled once. Left out: TGA, which has no magic number, so that any broken file may pass for one; PNM, which it reads without
// looking whether the file ends too early (pnm.h does); and what no encoder is fed with.
#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_STDIO
#define STBI_NO_TGA
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_NO_PIC
#define STBI_NO_PSD
#define STBI_NO_PNM
#define STBI_FAILURE_USERMSG
#define STBI_MAX_DIMENSIONS 65535
#include <stb/stb_image.h>
