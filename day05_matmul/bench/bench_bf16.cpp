// Products of bf16, timed next to cuBLAS. Values of noise() have eight significant bits and sums of
// their products are exact in float, so here too every run must give the same bits.
#include <memory>
#include <vector>

#include "common/gpu/tile.hpp"
#include "common/lesson/lesson.hpp"
#include "common/tensor/transform.hpp"
#include "day05_matmul/bench/bench.hpp"
#include "day05_matmul/bench/inputs.hpp"
#include "day05_matmul/bench/peer/peer.hpp"
#include "day05_matmul/matmul_bf16.hpp"

namespace sixdays::day05_matmul {

using lesson::Arena, lesson::Trial, lesson::Version;

namespace {

/// a (M, K), row-major; b (K, N), or the transposed view of (N, K).
struct Product16 {
    Sizes s;
    Layout a() const { return row_major({s.M, s.K}); }
    Layout b() const { return operand(s.K, s.N, s.b_transposed); }
    Layout out() const { return row_major({s.M, s.N}); }
};

/// The check: a small product of the same layouts, against the CPU reference
/// bit for bit.
Trial small_trial(const Sizes& s, std::optional<MatmulBf16Path> path) {
    const Product16 p{{40, 72, 96, false, s.b_transposed}};
    struct Memory {
        gpu::Buffer<bf16> a{40 * 96}, b{96 * 72};
        gpu::Buffer<float> out{40 * 72}, want{40 * 72};
    };
    const auto memory = std::make_shared<Memory>();
    const auto noisy = [](std::int64_t n, std::uint64_t seed) {
        return lesson::filled<bf16>({n}, [&](std::int64_t i) { return bf16(noise(seed, i)); });
    };
    const auto a = noisy(40 * 96, kSeedA), b = noisy(96 * 72, kSeedB);
    Tensor<float> want({40, 72});
    matmul_bf16_cpu<bf16>({a.data(), p.a()}, {b.data(), p.b()}, {}, want.view());
    memory->a = gpu::Buffer<bf16>(a), memory->b = gpu::Buffer<bf16>(b);
    memory->want = gpu::Buffer<float>(want);
    return {[=](int) {
                matmul_bf16_cuda<bf16>({memory->a.data(), p.a()}, {memory->b.data(), p.b()}, {},
                                       {memory->out.data(), p.out()}, {.path = path});
            },
            {{memory->out.data(), memory->want.data(), 4 * 40 * 72}}};
}

Version timed_bf16(const std::string& op, const Sizes& s, std::optional<MatmulBf16Path> path) {
    const Product16 p{s};
    Version v;
    v.op = op;
    v.dtype = "bfloat16";
    v.shape = sixdays::to_string(Shape{s.M, s.N, s.K});
    const auto m = static_cast<double>(s.M), n = static_cast<double>(s.N),
               k = static_cast<double>(s.K);
    v.work = {2 * (m * k + k * n), 4 * m * n, 2 * m * n * k};
    v.check = small_trial(s, path);
    const auto arena = std::make_shared<std::shared_ptr<Arena>>();  // allocated on first use
    const auto room = std::make_shared<std::unique_ptr<gpu::Buffer<float>>>();
    const auto peer = std::make_shared<PeerProduct<bf16>>();
    v.timed = [=] {
        *arena = std::make_shared<Arena>(std::vector{2 * s.M * s.K, 2 * s.K * s.N}, 4 * s.M * s.N);
        Arena& x = **arena;
        fill_operands<bf16>(x);
        const auto run = [=](int set, float* out, std::optional<MatmulBf16Path> by) {
            matmul_bf16_cuda<bf16>({(*arena)->input<bf16>(set, 0), p.a()},
                                   {(*arena)->input<bf16>(set, 1), p.b()}, {}, {out, p.out()},
                                   {.path = by});
        };
        run(0, x.want<float>(), MatmulBf16Path::shared_tiles);
        const auto sum_alone = [](double sum, std::int64_t) { return sum; };
        require_right("matmul_bf16", s, p.a(), p.b(), sum_alone, x.want<float>());
        *room = std::make_unique<gpu::Buffer<float>>(s.M * s.N);
        if (has_peer()) {
            *peer = peer_product({x.input<bf16>(0, 0), p.a()}, {x.input<bf16>(0, 1), p.b()},
                                 {(*room)->data(), p.out()});
        }
        return Trial{[=](int set) { run(set, (*arena)->output<float>(set), path); }, x.outcomes()};
    };
    if (has_peer()) {
        v.peer = "cuBLAS";
        v.run_peer = [=](int i) {
            const int set = i % (*arena)->sets();
            (*peer)((*arena)->input<bf16>(set, 0), (*arena)->input<bf16>(set, 1), (*room)->data());
        };
    }
    return v;
}

}  // namespace

void bench_bf16(lesson::Report& report) {
    for (const MatmulBf16Path path :
         {MatmulBf16Path::one_element, MatmulBf16Path::one_warp, MatmulBf16Path::shared_tiles,
          MatmulBf16Path::ring, MatmulBf16Path::fragments_ahead, MatmulBf16Path::warpgroups,
          MatmulBf16Path::persistent, MatmulBf16Path::ping_pong}) {
        if (path >= MatmulBf16Path::warpgroups && !gpu::on_hopper()) continue;
        Version v = timed_bf16("matmul_bf16", {4096, 4096, 4096}, path);
        v.version = std::to_string(static_cast<int>(path) + 1) + " " + name(path);
        report.port(v);
    }
    for (const std::int64_t n : {4096, 8192}) {
        if (!gpu::has_tile()) break;
        Version v = timed_bf16("matmul_bf16", {n, n, n}, MatmulBf16Path::tile);
        v.version = name(MatmulBf16Path::tile);
        report.port(v);
    }
    std::vector<Sizes> sizes;
    for (const std::int64_t n : {2048, 4096, 8192, 16384}) {
        for (const std::int64_t k : {1024, 2048, 4096, 8192}) sizes.push_back({n, n, k});
    }
    sizes.push_back({16384, 16384, 16384});
    for (const std::int64_t n : {4096, 8192}) sizes.push_back({n, n, n, false, true});
    for (const std::int64_t tokens : {1024, 4096, 16384}) {  // the size of GPT-2's products
        sizes.push_back({tokens, 2304, 768});
        sizes.push_back({tokens, 3072, 768});
        sizes.push_back({tokens, 50257, 768, false, true});
    }
    sizes.push_back({1024, 768, 3072});
    // What step 8 takes over from step 7.
    for (const Sizes& s : {Sizes{8192, 8192, 1024}, {16384, 16384, 1024}, {16384, 3072, 768}}) {
        if (!gpu::on_hopper()) break;
        Version v = timed_bf16("matmul_bf16, short K", s, MatmulBf16Path::persistent);
        v.version = "7 persistent";
        report.port(v);
    }
    for (const Sizes& s : sizes) {
        Version v =
            timed_bf16(s.b_transposed ? "matmul_bf16, b transposed" : "matmul_bf16, sizes", s, {});
        v.version = "matmul_bf16_cuda";
        const Product16 p{s};
        v.path = name(
            choose_matmul_bf16<bf16>({nullptr, p.a()}, {nullptr, p.b()}, {}, {nullptr, p.out()}));
        report.port(v);
    }
}

}  // namespace sixdays::day05_matmul
