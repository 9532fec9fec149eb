// Which elements of a run are loaded as vectors, and which tensors can be: against a brute-force
// check of every address.
#include <vector>

#include "common/tensor/vectorized.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;

namespace {

alignas(16) char memory[1 << 12];

// Every element of a run is in exactly one vector or is one scalar element, and vectors are
// aligned.
template <class T>
void check_run(std::int64_t first, std::int64_t n) {
    const T* data = reinterpret_cast<const T*>(memory) + first;
    const VectorizedRun run(data, n);
    std::vector<int> seen(static_cast<std::size_t>(n), 0);
    CAPTURE(sizeof(T), first, n, run.head, run.count, run.scalars);
    REQUIRE(run.each == 16 / static_cast<int>(sizeof(T)));
    for (std::int64_t q = 0; q < run.count; ++q) {
        const std::int64_t begin = run.head + q * run.each;
        REQUIRE(misalignment(data + begin) == 0);
        for (int e = 0; e < run.each; ++e) ++seen.at(static_cast<std::size_t>(begin + e));
    }
    for (std::int64_t i = 0; i < run.scalars; ++i) {
        ++seen.at(static_cast<std::size_t>(run.scalar_element(i)));
    }
    for (const int times : seen) REQUIRE(times == 1);
    // The maximum number of vectors: neither head nor tail contains a whole one.
    REQUIRE((run.count > 0 || n < 2 * run.each));
    REQUIRE(run.head < run.each);
    REQUIRE(run.scalars - run.head < run.each);
    REQUIRE(run.threads() == std::max(run.count, run.scalars));
}

TEST_CASE("head, vectors and tail cover every element of a run exactly once",
          "[tensor][vectorized][small]") {
    for (std::int64_t first = 0; first < 17; ++first) {
        for (std::int64_t n = 0; n < 70; ++n) {
            check_run<std::uint8_t>(first, n);
            check_run<std::uint16_t>(first, n);
            check_run<float>(first, n);
            check_run<double>(first, n);
        }
    }
}

TEST_CASE("a run is split as drawn in vectorized.hpp", "[tensor][vectorized][small]") {
    const VectorizedRun run(reinterpret_cast<const float*>(memory) + 1, 13);
    CHECK(run.head == 3);
    CHECK(run.count == 2);
    CHECK(run.scalars == 5);
    CHECK(run.scalar_element(2) == 2);
    CHECK(run.scalar_element(3) == 11);
    CHECK(run.scalar_element(4) == 12);
}

TEST_CASE("addresses share a split only if equally misaligned", "[tensor][vectorized][small]") {
    CHECK(equally_misaligned(memory));
    CHECK(equally_misaligned(memory + 4, memory + 20, memory + 36));
    CHECK(!equally_misaligned(memory + 4, memory + 20, memory + 32));
    CHECK(!equally_misaligned(memory + 4, memory + 8, memory + 20));
}

// Brute force: checks the address of every row.
bool each_row_begins_at(const char* data, const Layout& layout, int element, int bytes) {
    Shape rows = layout.shape;
    if (rows.rank > 0) rows[rows.rank - 1] = 1;
    for (std::int64_t i = 0; i < size(rows); ++i) {
        std::int64_t number = i, sum = 0;
        for (int d = rows.rank - 1; d >= 0; --d) {
            sum += number % rows[d] * layout.stride(d);
            number /= rows[d];
        }
        const auto address = reinterpret_cast<std::uintptr_t>(data + sum * element);
        if (address % static_cast<unsigned>(bytes) != 0) return false;
    }
    return true;
}

TEST_CASE("rows_begin_at is true exactly if every row starts at a multiple",
          "[tensor][vectorized][small]") {
    const char* const middle = memory + 2048;
    int yes = 0, cases = 0;
    for (const std::int64_t pitch : {-12, -8, -3, 0, 4, 6, 8, 13, 16}) {
        for (const std::int64_t step : {-64, -2, 0, 32, 36, 34}) {
            for (const std::int64_t rows : {1, 2, 3}) {
                for (const std::int64_t stack : {1, 2}) {
                    for (const int past : {0, 4, 8}) {
                        for (const int bytes : {4, 8, 16}) {
                            const Layout layout({stack, rows, 5}, {step, pitch, 1});
                            const bool want = each_row_begins_at(middle + past, layout, 4, bytes);
                            CAPTURE(to_string(layout), past, bytes);
                            CHECK(rows_begin_at(middle + past, layout, 4, bytes) == want);
                            yes += want;
                            ++cases;
                        }
                    }
                }
            }
        }
    }
    CHECK(yes > cases / 5);
    CHECK(yes < cases * 4 / 5);
    CHECK(rows_begin_at(memory, Layout(), 4));
    CHECK(rows_begin_at(memory, row_major({5}), 4));
    CHECK(!rows_begin_at(memory + 4, row_major({5}), 4));
}

TEST_CASE("a tensor has wider elements if every row consists of whole, aligned ones",
          "[tensor][vectorized][small]") {
    CHECK(has_wider(memory, Layout({3, 8}, {12, 1}), 4));
    CHECK(!has_wider(memory, Layout({3, 8}, {13, 1}), 4));  // the second row is misaligned
    CHECK(!has_wider(memory, Layout({3, 6}, {12, 1}), 4));  // rows end with half a vector
    CHECK(has_wider(memory, Layout({3, 6}, {12, 1}), 4, 8));
    CHECK(!has_wider(memory, Layout({3, 8}, {12, 2}), 4));  // gaps
    CHECK(!has_wider(memory, Layout({3, 8}, {12, 0}), 4));  // one element, repeated
    CHECK(!has_wider(memory + 8, Layout({3, 8}, {12, 1}), 4));
    CHECK(has_wider(memory + 8, Layout({3, 8}, {12, 1}), 4, 8));
    CHECK(!has_wider(memory, Layout(), 4));               // rank 0: one element
    CHECK(has_wider(memory, Layout({1, 8}, {5, 1}), 4));  // a stride that is never used
}

TEST_CASE("a wider element is at its first narrow element", "[tensor][vectorized][small]") {
    const Layout floats({2, 3, 8}, {-48, 12, 1});
    const Layout vectors = wider(floats, 4);
    CHECK(equivalent(vectors, Layout({2, 3, 2}, {-12, 3, 1})));
    for (std::int64_t i = 0; i < 2; ++i) {
        for (std::int64_t j = 0; j < 3; ++j) {
            for (std::int64_t k = 0; k < 2; ++k) {
                CHECK(4 * offset(vectors, i, j, k) == offset(floats, i, j, 4 * k));
            }
        }
    }
}

}  // namespace
