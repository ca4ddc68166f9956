/* becoming [N]: a program that becomes itself with each function that there is for that, and then returns 3. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

extern char** environ;

int main(int argc, char** argv) {
    const char now = argc > 1 ? argv[1][0] : '0';
    char next[] = {(char)(now + 1), 0};
    char* const words[] = {argv[0], next, NULL};
    switch (now) {
    case '0': execl(argv[0], argv[0], next, (char*)NULL); break;
    case '1': execlp(argv[0], argv[0], next, (char*)NULL); break;
    case '2': execle(argv[0], argv[0], next, (char*)NULL, environ); break;
    case '3': execv(argv[0], words); break;
    case '4': execvp(argv[0], words); break;
    case '5': execve(argv[0], words, environ); break;
    case '6': execvpe(argv[0], words, environ); break;
    case '7': fexecve(open(argv[0], O_RDONLY | O_CLOEXEC), words, environ); break;
    case '8': execveat(AT_FDCWD, argv[0], words, environ, 0); break;
    default: puts("here"); return 3;
    }
    perror("becoming");
    return 1;
}
