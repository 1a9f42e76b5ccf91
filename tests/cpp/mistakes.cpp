// Makes the mistake that its argument names: what the sanitized build has to see.
#include <cstdio>
#include <cstring>
#include <limits>

int main(int argc, char** argv) {
    const char* const mistake = argc == 2 ? argv[1] : "";
    int* const number = new int(1);
    volatile int* const watched = number;
    volatile int large = std::numeric_limits<int>::max();
    if (std::strcmp(mistake, "undefined") == 0) std::printf("%d\n", large + *watched);
    if (std::strcmp(mistake, "leak") != 0) delete number;
    if (std::strcmp(mistake, "use") == 0) std::printf("%d\n", *watched);
    return 0;
}
