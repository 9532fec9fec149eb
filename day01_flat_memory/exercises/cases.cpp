// The cases that `common/learn check day01` runs for the one-file exercises.
#include "common/testing/practice.hpp"

#include <cstdlib>

#include "common/lesson/png.hpp"
#include "day01_flat_memory/picture.hpp"

using namespace sixdays;
using namespace sixdays::day01_flat_memory;
using namespace sixdays::testing;

void guard(const float* in, int n, float* out);
void blocks(const float* in, int n, float* out);
void rows_columns(int M, int N, int* out);
void long_steps(const float* in, int n, float* out);
void channel(const float* in, int B, int T, int C, int c, float* out);
void julia(float c_re, float c_im, int H, int W, unsigned char* out);

namespace {

using Launch = void (*)(const float*, int, float*);

// out[i] = 3 * in[i], in = 1, 2, 3, ...
void check_triple(Launch launch, int n, const std::vector<Guess>& guesses = {},
                  const Advice& if_stopped = {}) {
    CAPTURE(n);
    DeviceIn<float> in(distinct<float>({n}));
    const auto want = [](std::int64_t k) { return 3.0 * static_cast<double>(k + 1); };
    practise<float>(
        {n}, [&](float* out) { launch(in.view().data, n, out); }, want, guesses, 0, if_stopped);
}

TEST_CASE("guard: whole blocks", "[day01][guard][small]") {
    const Advice one_each = one_writer(
        "Each thread computes one element, i, and here several compute the same one. Is there a "
        "loop where an `if` suffices?");
    check_triple(guard, 256, {}, one_each);
    check_triple(guard, 512, {}, one_each);
}

TEST_CASE("guard: surplus threads", "[day01][guard][small]") {
    Advice one_each = one_writer(
        "A surplus thread writes an element that belongs to another thread. Threads with i >= n "
        "must not touch memory.");
    one_each.otherwise = {
        {{"past its end"},
         "Threads with i >= n must not touch memory. The guard compares i with n, "
         "neither threadIdx.x nor blockIdx.x alone."}};
    check_triple(guard, 1000, {}, one_each);
    check_triple(guard, 1, {}, one_each);
    check_triple(guard, 257, {}, one_each);
}

TEST_CASE("blocks: any number of elements", "[day01][blocks][small]") {
    for (const int n : {128, 1000, 129, 1024, 255}) {
        const auto only = [n](int count) {
            return [n, count](std::int64_t k) {
                return k < std::min(count, n) ? 3.0 * static_cast<double>(k + 1) : NAN;
            };
        };
        std::vector<Guess> guesses = {
            {"The last, partial block is missing: n / threads rounds down, but the number of "
             "blocks must round up.",
             only(n / 128 * 128)}};
        if (n / 128 > 1)
            guesses.push_back(
                {"Only one block was launched, so only the first 128 "
                 "elements were written.",
                 only(128)});
        check_triple(blocks, n, guesses);
    }
}

TEST_CASE("blocks: fewer than one block", "[day01][blocks][small]") {
    INFO("Fewer than 128 elements still need one block. Its surplus threads stay idle.");
    check_triple(blocks, 127);
    check_triple(blocks, 1);
}

TEST_CASE("blocks: not one too many", "[day01][blocks][small]") {
    DeviceIn<float> in(distinct<float>({256}));
    DeviceOut<float> out({256});
    INFO("256 elements are exactly 2 blocks of 128 threads, but you launched a different number.");
    const bool asked =
        gpu::run_last_block(256, [&] { blocks(in.view().data, 256, out.view().data); });
    REQUIRE(asked == gpu::is_emulated());
}

TEST_CASE("rows_columns: matrices", "[day01][rows_columns][small]") {
    for (const auto& [M, N] : {std::pair{2, 3}, {3, 2}, {7, 100}, {40, 1}, {1, 40}}) {
        CAPTURE(M, N);
        const auto want = [n = N](std::int64_t k) {
            return static_cast<double>(1000 * (k / n) + k % n);
        };
        const auto by_M = [m = M](std::int64_t k) {
            return static_cast<double>(1000 * (k / m) + k % m);
        };
        const auto swapped = [n = N](std::int64_t k) {
            return static_cast<double>(1000 * (k % n) + k / n);
        };
        practise<int>(
            {M, N}, [m = M, n = N](int* out) { rows_columns(m, n, out); }, want,
            {{"It looks as if you divided by M, the number of rows. How many elements does a row "
              "have?",
              by_M},
             {"Row and column are swapped.", swapped},
             {"The rows are right, the columns are not: a row begins at row * N, so the column "
              "is the remainder, i % N or i - row * N.",
              {},
              [n = N](std::int64_t k, double got) {
                  return std::floor(got / 1000) == static_cast<double>(k / n);
              }},
             {"The columns are right, the rows are not: each row has N elements, so i is in row "
              "i / N.",
              {},
              [n = N](std::int64_t k, double got) {
                  return got >= 0 && std::fmod(got, 1000) == static_cast<double>(k % n);
              }}});
    }
}

const Advice kOneElementOnce = one_writer(
    "Several threads write the same element. The stride is the number of threads in the grid, "
    "gridDim.x * blockDim.x, and each thread starts at its own index in the grid.");

// What contiguous chunks of n / 256 elements per thread leave out.
Guess stretches(int n) {
    return {
        "The last elements are missing: each thread computed n / 256 of them, and the remainder "
        "is not processed.",
        [n](std::int64_t k) { return k < n / 256 * 256 ? 3.0 * static_cast<double>(k + 1) : NAN; }};
}

TEST_CASE("long_steps: at most as many elements as threads", "[day01][long_steps][small]") {
    check_triple(long_steps, 3, {stretches(3)}, kOneElementOnce);
    check_triple(long_steps, 256, {}, kOneElementOnce);
}

TEST_CASE("long_steps: more elements than threads", "[day01][long_steps][small]") {
    for (const int n : {257, 1000, 5000}) {
        const auto first = [](std::int64_t k) {
            return k < 256 ? 3.0 * static_cast<double>(k + 1) : NAN;
        };
        std::vector<Guess> guesses = {
            {"Each thread computed only one element: 256 are right, and the others were never "
             "written.",
             first}};
        if (n / 256 > 1) guesses.push_back(stretches(n));
        check_triple(long_steps, n, guesses, kOneElementOnce);
    }
}

TEST_CASE("long_steps: neighbouring threads, neighbouring elements", "[day01][long_steps][small]") {
    DeviceIn<float> in(distinct<float>({1024}));
    DeviceOut<float> out({1024});
    const auto touched = touched_by([&] { long_steps(in.view().data, 1024, out.view().data); });
    INFO("Memory moved " << touched.sectors << " sectors where " << 2 * 128
                         << " suffice: the 32 threads of a warp should access 32 consecutive "
                            "elements. Does each thread process its own contiguous chunk?");
    REQUIRE(touched.sectors <= 2 * 128);
}

TEST_CASE("channel: one channel of every token", "[day01][channel][small]") {
    for (const auto& [B, T, C, c] : {std::array{1, 2, 3, 1}, {2, 5, 7, 0}, {3, 40, 6, 5}}) {
        CAPTURE(B, T, C, c);
        const std::array d = {B, T, C, c};
        const auto one = [d](std::int64_t k) {
            return k < d[1] ? static_cast<double>(k * d[2] + d[3] + 1) : NAN;
        };
        std::vector<Guess> guesses;
        if (B > 1) guesses = {{"Only sequence 0 was written. Where does row b of out begin?", one}};
        const auto at = [d](const Index& i) { return (i[0] * d[1] + i[1]) * d[2] + d[3]; };
        practise(
            {"out", "bt", {B, T}, {{"in", B * T * C, at}}},
            [d](const auto& in, float* out) { channel(in[0], d[0], d[1], d[2], d[3], out); },
            guesses);
    }
}

// What julia should draw, and what it draws with typical mistakes.
struct Drawing {
    Julia c;
    std::int64_t H, W;
    Tensor<std::uint8_t> steps{{H, W}};

    // Does rounding decide the number of steps? It does where z and c, moved by 1e-5, have another.
    bool any(std::int64_t x, std::int64_t y) const {
        for (const auto& [re, im] :
             {std::pair{1e-5f, 0.f}, {-1e-5f, 0.f}, {0.f, 1e-5f}, {0.f, -1e-5f}}) {
            const Julia moved{c.c_re + re, c.c_im + im, c.height, re, im};
            if (julia_steps(moved, x, y, W, H) != steps(y, x)) return true;
        }
        return false;
    }

    // May pixel (x, y) be `got`, if the counts are `late` too small, but no less than `least`?
    bool is(double got, std::int64_t x, std::int64_t y, int late = 0, int least = 0) const {
        const int n = steps(y, x);
        if (got == (n == kMostSteps ? n : std::max(n - late, least))) return true;
        return got != 255 && any(x, y);  // 255: never written
    }

    // May it be, if its re is this one?
    bool is_at(double got, float re, std::int64_t x, std::int64_t y) const {
        const float im = 1.2f * float(H - 1 - 2 * y) / float(H);
        return got == julia_steps({c.c_re, c.c_im, 0, re, im}, 0, 0, 1, 1) ||
               (got != 255 && any(x, y));
    }

    // May it be, if a step is this one? Later steps are a matter of rounding.
    template <class Step>
    bool is_by(const Step& step, double got, std::int64_t x, std::int64_t y,
               double most = 4) const {
        double re = 1.2 * double(2 * x + 1 - W) / double(H),
               im = 1.2 * double(H - 1 - 2 * y) / double(H);
        int n = 0;
        for (; n < 6 && re * re + im * im <= most; ++n) step(re, im);
        return got != 255 && std::min(got, 6.) == n;
    }
};

std::vector<Guess> mistakes_in(const Drawing& d) {
    const auto guess = [W = d.W](const char* sentence, const auto& is) {
        return Guess{
            sentence, {}, [=](std::int64_t k, double got) { return is(got, k % W, k / W); }};
    };
    return {
        guess("x and y are swapped in the offset, out[x * H + y]: pixel (x, y) is at y * W + x.",
              [&](double got, auto x, auto y) {
                  return d.is(got, (y * d.W + x) / d.H, (y * d.W + x) % d.H);
              }),
        guess("x and y are swapped in the guard or where they are computed: x counts the W columns "
              "and comes from blockIdx.x and threadIdx.x, y counts the H rows.",
              [&](double got, auto x, auto y) {
                  const bool drawn = x < (d.H + 7) / 8 * 8 && y < (d.W + 31) / 32 * 32;
                  return drawn ? d.is(got, x, y) : got == 255;
              }),
        guess("The picture is upside down: row y = 0 is at the top, where im is largest.",
              [&](double got, auto x, auto y) { return d.is(got, x, d.H - 1 - y); }),
        guess("re and im are both divided by H. Divided by W, the picture is stretched.",
              [&](double got, auto x, auto y) {
                  return d.is_at(got, 1.2f * float(2 * x + 1 - d.W) / float(d.W), x, y);
              }),
        guess("x or y is unsigned, so 2 * x + 1 - W wraps around below 0. Make both an int.",
              [&](double got, auto x, auto y) {
                  return 2 * x + 1 < d.W || 2 * y > d.H - 1 ? got == 0 : d.is(got, x, y);
              }),
        guess("x is unsigned, so 2 * x + 1 - W wraps around below 0. Make it an int.",
              [&](double got, auto x, auto y) {
                  return 2 * x + 1 < d.W ? got == 0 : d.is(got, x, y);
              }),
        guess("In C++ an int divided by an int is rounded toward 0, so many pixels get the same "
              "point. Multiply by 1.2f first, or convert to float.",
              [&](double got, auto x, auto) {
                  const float re = 1.2f * float((2 * x + 1 - d.W) / d.H);
                  return got == julia_steps({d.c.c_re, d.c.c_im, 0, re, 0}, 0, 0, 1, 1);
              }),
        guess("The new im is computed from the new re. Keep the old re until both are known.",
              [&](double got, auto x, auto y) {
                  const auto step = [c = d.c](double& re, double& im) {
                      re = re * re - im * im + c.c_re;
                      im = 2 * re * im + c.c_im;
                  };
                  return d.is_by(step, got, x, y);
              }),
        guess("c_im is missing: the new im is 2 * re * im + c_im.",
              [&](double got, auto x, auto y) {
                  const auto step = [c = d.c](double& re, double& im) {
                      const double next = re * re - im * im + c.c_re;
                      im = 2 * re * im, re = next;
                  };
                  return d.is_by(step, got, x, y);
              }),
        guess("re * re + im * im is compared with 2. It is the square of |z|: compare it with 4.",
              [&](double got, auto x, auto y) {
                  const auto step = [c = d.c](double& re, double& im) {
                      const double next = re * re - im * im + c.c_re;
                      im = 2 * re * im + c.c_im, re = next;
                  };
                  return d.is_by(step, got, x, y, 2);
              }),
        guess("Each count is one too small: test |z| before each step, and count the last one too.",
              [&](double got, auto x, auto y) { return d.is(got, x, y, 1); }),
        guess(
            "Where z is too far away at first, the count is 0: test |z| before the first step too.",
            [&](double got, auto x, auto y) { return d.is(got, x, y, 0, 1); }),
        guess("Points that never get far away stop at 254 steps. Does your loop allow more?",
              [&](double got, auto x, auto y) {
                  return d.is(got, x, y) || (d.steps(y, x) == 254 && (got == 255 || got == 0));
              })};
}

// A c whose points leave soon or never, so that rounding decides hardly any of them.
constexpr Julia kRound{.c_re = -0.2f, .c_im = 0.3f};

void check_julia(int H, int W, const Advice& if_stopped = {}, const Why& why = {},
                 const Julia& c = kRound) {
    CAPTURE(H, W);
    Drawing d{c, H, W};
    picture_cpu(c, d.steps.view());
    practise<std::uint8_t>(
        {H, W}, [&](std::uint8_t* out) { julia(c.c_re, c.c_im, H, W, out); },
        [&](std::int64_t k) { return d.steps.data()[k]; }, mistakes_in(d),
        [&](const Index& i) { return d.any(i[1], i[0]) ? 254. : 0.; }, if_stopped, why);
}

TEST_CASE("julia: whole blocks", "[day01][julia][small]") {
    const Advice row_length = one_writer(
        "Several threads write the same pixel: a row of the image has W pixels, so pixel (x, y) is "
        "at offset y * W + x.");
    for (const auto& [H, W] : {std::pair{40, 64}, {64, 32}, {8, 32}}) check_julia(H, W, row_length);
}

TEST_CASE("julia: surplus threads", "[day01][julia][small]") {
    const Advice guard = one_writer(
        "The guard is missing in x, or lets x = W through: such a thread writes into the next row. "
        "Threads with x >= W or y >= H must not touch memory.");
    const Why why = [] {
        return "Whole blocks are right, partial ones are not. Is there a guard for y too, y < H? "
               "Is "
               "the row length in the offset W, not the width of the grid?";
    };
    for (const auto& [H, W] : {std::pair{21, 50}, {40, 33}, {9, 64}, {50, 3}, {1, 1}}) {
        check_julia(H, W, guard, why);
    }
}

TEST_CASE("julia: another c", "[day01][julia][small]") {
    check_julia(40, 64, {}, {}, Julia{});
}

// Draws with the learner's kernel into the folder that common/learn names, whatever comes of it.
void leave_picture(const std::string& folder, int H, int W) {
    const std::string file = folder + "/julia.png";
    const char* until = "";
    gpu::Buffer<std::uint8_t> pixels(H * W);
    pixels.fill_bytes(0xff);
    try {
        julia(Julia{}.c_re, Julia{}.c_im, H, W, pixels.data());
        gpu::synchronize();
    } catch (const std::exception&) {  // the cases say why
        until = ", until the kernel was stopped";
    }
    try {
        Tensor<std::uint8_t> picture({H, W}, pixels.download());
        std::transform(picture.data(), picture.data() + picture.size(), picture.data(), brightness);
        lesson::write_png(file, picture.view());
        std::printf("Your picture%s: %s\n", until, file.c_str());
    } catch (const std::exception& error) {
        std::printf("Your picture is missing: %s\n", error.what());
    }
}

TEST_CASE("julia: an image of 768 x 512", "[day01][julia][small]") {
    const char* folder = std::getenv("SIXDAYS_PICTURES");
    if (folder != nullptr) leave_picture(folder, 512, 768);
    check_julia(512, 768);
}

}  // namespace
