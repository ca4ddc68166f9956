/* A program into which no library can be put. With an argument it ends when its standard input does. */
#include <unistd.h>

int main(int argc, char** argv) {
    (void)argv;
    for (char c; argc > 1 && read(0, &c, 1) > 0;) {
    }
    return 0;
}
