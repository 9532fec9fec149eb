// The cases that `common/learn check day02` runs for the one-file exercises.
#include "common/testing/practice.hpp"

using namespace sixdays;
using namespace sixdays::testing;

void take_column(const float* in, int M, int N, int n, float* out);
void backwards(const float* in, int n, float* out);
void same_row(const float* in, int M, int N, float* out);
void every_third(const float* in, int n, float* out);
void pitched_rows(const float* in, int pitch, int M, int N, float* out);

namespace {

TEST_CASE("take_column: any column", "[day02][take_column][small]") {
    for (const auto [M, N, n] : {std::array{3, 4, 2}, {5, 1, 0}, {100, 7, 6}, {2, 50, 0}}) {
        CAPTURE(M, N, n);
        const double columns = N, column = n;
        std::vector<Guess> guesses;
        if (N > 1) {
            guesses = {
                {"It looks as if you copied a piece of a row: the next element of a column is N "
                 "elements away, in the next row.",
                 [=](std::int64_t m) { return static_cast<double>(m) + column + 1; }},
                {"The stride is right, but this is column 0. Where does column n begin?",
                 [=](std::int64_t m) { return static_cast<double>(m) * columns + 1; }}};
        }
        const std::int64_t step = N, first = n;
        practise(
            {"out", "m", {M}, {{"in", M * N, [=](const Index& i) { return i[0] * step + first; }}}},
            [M = M, N = N, n = n](const auto& in, float* out) { take_column(in[0], M, N, n, out); },
            n == 0 ? std::vector<Guess>() : guesses);
    }
}

TEST_CASE("backwards: any length", "[day02][backwards][small]") {
    for (const int n : {4, 1, 64, 101}) {
        CAPTURE(n);
        practise({"out", "i", {n}, {{"in", n, [n](const Index& i) { return n - 1 - i[0]; }}}},
                 [n](const auto& in, float* out) { backwards(in[0], n, out); });
    }
}

TEST_CASE("same_row: every row is the same", "[day02][same_row][small]") {
    for (const auto& [M, N] : {std::pair{3, 4}, {5, 1}, {2, 70}}) {
        CAPTURE(M, N);
        practise({"out", "mn", {M, N}, {{"in", N, [](const Index& i) { return i[1]; }}}},
                 [M = M, N = N](const auto& in, float* out) { same_row(in[0], M, N, out); },
                 {{"Every element is in[0]: the stride is 0 along the columns too. Only the "
                   "stride between rows may be 0.",
                   [](std::int64_t) { return 1.0; }}});
    }
}

TEST_CASE("every_third: all elements, and no more", "[day02][every_third][small]") {
    for (const int n : {4, 5, 6, 7, 8, 300, 301, 302, 2}) {
        CAPTURE(n);
        const std::int64_t count = (n + 1) / 3;
        practise({"out", "i", {count}, {{"in", n, [](const Index& i) { return 1 + 3 * i[0]; }}}},
                 [n](const auto& in, float* out) { every_third(in[0], n, out); },
                 {{"All others are right, but the last one is missing: count rounds down where it "
                   "must round up.",
                   [=](std::int64_t i) {
                       return i < count - 1 ? static_cast<double>(2 + 3 * i) : NAN;
                   }}});
    }
}

TEST_CASE("pitched_rows: padding is skipped", "[day02][pitched_rows][small]") {
    for (const auto [M, N, pitch] : {std::array{3, 4, 6}, {2, 33, 40}, {4, 5, 5}}) {
        CAPTURE(M, N, pitch);
        const std::int64_t columns = N, step = pitch;
        std::vector<Guess> guesses;
        if (step != columns) {
            guesses = {{"Rows of in are pitch elements apart, not N, so you read the padding too.",
                        [](std::int64_t k) { return static_cast<double>(k + 1); }}};
        }
        practise(
            {"out",
             "mn",
             {M, N},
             {{"in", M * pitch, [=](const Index& i) { return i[0] * step + i[1]; }}}},
            [M = M, N = N, pitch = pitch](const auto& in, float* out) {
                pitched_rows(in[0], pitch, M, N, out);
            },
            guesses);
    }
}

}  // namespace
