# Run as a script: SPIR-V words as a C++ array. -DSPIRV=in.spv -DNAME=array -DHEADER=out.h
file(READ ${SPIRV} words HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1," words "${words}") # words are little endian
string(REGEX REPLACE "(0x[^x]*x[^x]*x[^x]*x[^x]*x[^x]*x[^x]*x[^x]*x[^,]*,)" "\\1\n" words "${words}")
file(WRITE ${HEADER} "const uint32_t ${NAME}[] = {\n${words}};\n")
