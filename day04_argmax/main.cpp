#include "common/lesson/lesson.hpp"
#include "day04_argmax/bench/bench.hpp"
using namespace sixdays;
using namespace sixdays::day04_argmax;
int main(int argc, char** argv) {
    return lesson::run(argc, argv,
                       {.title = "Day 04, argmax",
                        .shows = "x",
                        .sections = {},
                        .trace = trace_all,
                        .bench = bench_all,
                        .try_this = "."});
}
