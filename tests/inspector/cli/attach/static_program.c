/* A program into which no library can be put. */
int main(void) { return 0; }
