# Run as a script: a file as a C++ array, of its bytes or of its little-endian words. -DFILE=in -DTYPE=char|uint32_t -DNAME=array
# -DHEADER=out.h
file(READ ${FILE} elements HEX)
if(TYPE STREQUAL "uint32_t")
  string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1," elements "${elements}")
  string(REPEAT "[^,]*," 8 line)
else()
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," elements "${elements}")
  string(REPEAT "[^,]*," 32 line)
endif()
string(REGEX REPLACE "(${line})" "\\1\n" elements "${elements}")
file(WRITE ${HEADER} "constexpr ${TYPE} ${NAME}[] = {\n${elements}};\n")
