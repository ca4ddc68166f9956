#include "inspector/cli/line/app.h"

int main(int argc, char** argv) { return schedscope::run_program(argc, argv); }
