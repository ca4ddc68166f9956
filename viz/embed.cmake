# Run as a script: a file's bytes as a C++ array. -DFILE=in -DNAME=array -DHEADER=out.h
file(READ ${FILE} bytes HEX)
string(REPEAT "." 64 line)
string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${HEADER} "constexpr char ${NAME}[] = {\n${bytes}};\n")
