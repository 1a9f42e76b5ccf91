// A test program: TEST functions, and a main that runs them all, those named in its arguments, or lists them.
#ifndef CHECK_H
#define CHECK_H

#include <cstdio>
#include <cstring>
#include <iostream>
#include <utility>
#include <vector>

namespace check {

struct Failure {};

inline std::vector<std::pair<const char*, void (*)()>>& Tests() {
    static std::vector<std::pair<const char*, void (*)()>> tests;
    return tests;
}

inline bool Add(const char* name, void (*test)()) {
    Tests().emplace_back(name, test);
    return true;
}

inline void Require(bool condition, const char* file, int line, const char* text) {
    if (!condition) {
        std::fprintf(stderr, "%s:%d: %s does not hold\n", file, line, text);
        throw Failure();
    }
}

template <typename A, typename B>
void RequireEqual(const A& actual, const B& expected, const char* file, int line, const char* text) {
    if (!(actual == expected)) {
        std::cerr << file << ":" << line << ": " << text << " is " << actual << ", not " << expected
                  << std::endl;
        throw Failure();
    }
}

}  // namespace check

// A check that fails ends its test.
#define CHECK(condition) check::Require(static_cast<bool>(condition), __FILE__, __LINE__, #condition)
#define CHECK_EQ(actual, expected) check::RequireEqual(actual, expected, __FILE__, __LINE__, #actual)
#define TEST(name)                                            \
    static void name();                                       \
    static const bool name##_added = check::Add(#name, name); \
    static void name()

int main(int argc, char** argv) {
    int failures = 0;
    int runs = 0;
    const bool list = argc == 2 && std::strcmp(argv[1], "--list") == 0;
    for (const auto& [name, test] : check::Tests()) {
        bool isChosen = argc == 1;
        for (int i = 1; i < argc; ++i) isChosen = isChosen || std::strcmp(argv[i], name) == 0;
        if (list) std::puts(name);
        if (list || !isChosen) continue;
        ++runs;
        try {
            test();
            std::printf("ok %s\n", name);
        } catch (const check::Failure&) {
            std::printf("FAILED %s\n", name);
            ++failures;
        }
    }
    // A name that no test has must not pass for a test that passed.
    const bool isEmpty = !list && runs < (argc == 1 ? 1 : argc - 1);
    if (isEmpty) std::fprintf(stderr, "%d tests were asked for, %d exist\n", argc - 1, runs);
    return failures == 0 && !isEmpty ? 0 : 1;
}

#endif
