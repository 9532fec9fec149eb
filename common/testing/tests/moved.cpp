// Tests of the helpers that find which elements a wrong kernel takes. The kernels run on the host.
#include "common/testing/moved.hpp"

#include <cmath>

#include "common/gpu/buffer.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;

namespace {

using I = std::int64_t;
using Values = std::vector<float>;

// `kernel(in, out)` on copies of the arrays.
LaunchMoves on_host(const std::vector<I>& sizes, I out_size,
                    const std::function<void(const std::vector<Values>&, Values&)>& kernel) {
    return [=](const std::vector<const float*>& sources, float* out) {
        std::vector<Values> in;
        for (std::size_t s = 0; s < sizes.size(); ++s) {
            in.emplace_back(static_cast<std::size_t>(sizes[s]));
            gpu::detail::copy_to_host(in[s].data(), sources[s], in[s].size() * sizeof(float));
        }
        Values result(static_cast<std::size_t>(out_size));
        gpu::detail::copy_to_host(result.data(), out, result.size() * sizeof(float));
        kernel(in, result);
        gpu::detail::copy_to_device(out, result.data(), result.size() * sizeof(float));
    };
}

std::size_t at(I k) {
    return static_cast<std::size_t>(k);
}

// A copy of a matrix of M x N: element put(m, n) gets element taken(m, n), unless that is -1.
template <class Put, class Take>
std::string copied(I M, I N, const Put& put, const Take& taken) {
    return moved_wrongly(
        {"out", "mn", {M, N}, {{"in", M * N, [=](const Index& i) { return i[0] * N + i[1]; }}}},
        on_host({M * N}, M * N, [=](const auto& in, Values& out) {
            for (I m = 0; m < M; ++m) {
                for (I n = 0; n < N; ++n) {
                    if (taken(m, n) >= 0) out[at(put(m, n))] = in[0][at(taken(m, n))];
                }
            }
        }));
}

}  // namespace

TEST_CASE("wrongly moved elements are reported as a formula of the index", "[testing][small]") {
    const auto right = [](I m, I n) { return 5 * m + n; };
    CHECK(copied(3, 5, right, right) == "");
    CHECK(copied(3, 5, right, [](I m, I n) { return m + n; }) ==
          "Each out(m, n) gets in[m + n]; it should get in[5 m + n].");
    CHECK(copied(
              3, 5, [](I m, I n) { return 5 * (2 - m) + n; }, right) ==
          "Each out(m, n) gets in[10 - 5 m + n]; it should get in[5 m + n].");
    CHECK(copied(
              3, 5, [](I m, I n) { return m + 3 * n; }, right) ==
          "out is filled as if it had the shape (5, 3); it has (3, 5).");
}

TEST_CASE("a transposition inside each tile is reported", "[testing][small]") {
    const auto right = [](I m, I n) { return 16 * m + n; };
    const auto mirrored_in = [](I side) {
        return [side](I m, I n) {
            return 16 * (m / side * side + n % side) + n / side * side + m % side;
        };
    };
    CHECK(copied(16, 16, right, mirrored_in(16)) ==
          "Each out(m, n) gets in[m + 16 n]; it should get in[16 m + n].");
    CHECK(contains(copied(16, 16, right, mirrored_in(8)),
                   "rows and columns are swapped inside each tile of 8 x 8: is the thread's x used "
                   "as its y?"));
    CHECK_FALSE(
        contains(copied(16, 16, right, [](I m, I n) { return 16 * m + n * n % 16; }), "swapped"));
}

TEST_CASE("missing elements are blamed on the grid only if no write is stray", "[testing][small]") {
    const auto right = [](I m, I n) { return 5 * m + n; };
    const auto short_of = [](I m, I n) { return m < 2 ? 5 * m + n : -1; };
    CHECK(contains(copied(3, 5, right, short_of), "only 10 of 15 elements are written"));
    // The last row is written too, but to wrong positions.
    CHECK_FALSE(contains(copied(
                             3, 5, [](I m, I n) { return m < 2 ? 5 * m + n : 9 + n; }, right),
                         "elements are written"));
}

TEST_CASE("sums of transposed operands are reported", "[testing][small]") {
    const I N = 16, K = 3;
    const auto sum = [=](I side) {
        return summed_wrongly({"c",
                               "mn",
                               {N, N},
                               K,
                               {{"a", N * K, [=](const Index& i, I k) { return i[0] * K + k; }},
                                {"b", N * K, [=](const Index& i, I k) { return i[1] * K + k; }}}},
                              on_host({N * K, N * K}, N * N, [=](const auto& in, Values& out) {
                                  for (I m = 0; m < N; ++m) {
                                      for (I n = 0; n < N; ++n) {
                                          const I row = m / side * side + n % side,
                                                  column = n / side * side + m % side;
                                          float all = 0;
                                          for (I k = 0; k < K; ++k) {
                                              all += in[0][at(row * K + k)] *
                                                     in[1][at(column * K + k)];
                                          }
                                          out[at(m * N + n)] = all;
                                      }
                                  }
                              }));
    };
    CHECK(contains(sum(1), "takes the right elements"));
    CHECK(contains(sum(8),
                   "c(0, 1) takes a[k + 3] for k = 0 to 2; it should take a[k] for k = 0 to 2: "
                   "rows and columns are swapped inside each tile of 8 x 8"));
}

TEST_CASE("wrong dependencies of an output are reported for any function", "[testing][small]") {
    const I M = 3, N = 4;
    const auto column = [](const Index& out, const Index& e) { return e[0] == out[1]; };
    const auto told = [&](const auto& weight_of, I from, I step) {
        return read_wrongly(
            {"out", "mn", {M, N}, {{"in", {M, N}, same_row}, {"weight", {N}, column}}},
            on_host({M * N, N}, M * N, [=](const auto& in, Values& out) {
                for (I m = 0; m < M; ++m) {
                    float largest = -INFINITY;
                    for (I n = from; n < N; n += step) {
                        largest = std::fmax(largest, in[0][at(m * N + n)]);
                    }
                    for (I n = 0; n < N; ++n)
                        out[at(m * N + n)] = largest * in[1][at(weight_of(m, n))];
                }
            }));
    };
    const auto right = [](I, I n) { return n; };
    CHECK(told(right, 0, 1) == "");
    CHECK(told([](I m, I) { return m; }, 0, 1) ==
          "Each out(m, n) depends on weight[m]; it should depend on weight[n].");
    CHECK(told(right, 0, 2) ==
          "out(0, 0) depends on in(0, 0), in(0, 2); it should depend on in(0, 0) to in(0, 3).");
    CHECK(told(right, 1, 1) == "out(0, 0) does not depend on in(0, 0), and it should.");
    CHECK(told(right, 4, 1) ==
          "out(0, 0) depends on nothing of in; it should depend on in(0, 0) to in(0, 3).");
    const auto all_rows = on_host({4}, 2, [](const auto& in, Values& out) {
        out[0] = out[1] = in[0][0] + in[0][1] + in[0][2] + in[0][3];
    });
    CHECK(read_wrongly({"out", "m", {2}, {{"in", {2, 2}, same_row}}}, all_rows) ==
          "out(0) depends on in(1, 0), in(1, 1), and it should not.");
}
