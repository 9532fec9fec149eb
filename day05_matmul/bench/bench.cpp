#include "day05_matmul/bench/bench.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "common/gpu/tile.hpp"
#include "common/lesson/lesson.hpp"
#include "common/tensor/transform.hpp"
#include "day05_matmul/bench/inputs.hpp"
#include "day05_matmul/bench/peer/peer.hpp"

namespace sixdays::day05_matmul {

using lesson::Arena, lesson::Trial, lesson::Version;

Version timed_matmul(const std::string& op, const Sizes& s, std::optional<MatmulPath> path) {
    const Layout la = operand(s.M, s.K, s.a_transposed), lb = operand(s.K, s.N, s.b_transposed);
    const Layout lout = row_major({s.M, s.N});
    const auto m = static_cast<double>(s.M), n = static_cast<double>(s.N),
               k = static_cast<double>(s.K);
    Version v;
    v.op = op;
    v.shape = sixdays::to_string(Shape{s.M, s.N, s.K});
    v.work = {4 * (m * k + k * n), 4 * m * n, 2 * m * n * k};
    const auto arena = std::make_shared<std::shared_ptr<Arena>>();  // allocated on first use
    const auto room = std::make_shared<std::unique_ptr<gpu::Buffer<float>>>();
    const auto workspace = std::make_shared<gpu::Buffer<std::byte>>(0);
    const auto bias = std::make_shared<gpu::Buffer<float>>(0);
    const auto peer = std::make_shared<PeerProduct<float>>();
    const auto epilogue = [=] {
        if (!s.bias_and_relu) return Epilogue{};
        return Epilogue{.bias = std::as_const(*bias).view({s.N}), .relu = true};
    };
    v.timed = [=] {
        *arena = std::make_shared<Arena>(std::vector{4 * s.M * s.K, 4 * s.K * s.N}, 4 * s.M * s.N);
        Arena& x = **arena;
        fill_operands<float>(x);
        if (s.bias_and_relu) {
            *bias = gpu::Buffer<float>(
                lesson::filled<float>({s.N}, [](std::int64_t i) { return noise(kSeedBias, i); }));
        }
        matmul_cuda({x.input<float>(0, 0), la}, {x.input<float>(0, 1), lb}, epilogue(),
                    {x.want<float>(), lout}, {.path = MatmulPath::transposed_tile});
        const auto then = [&s](double sum, std::int64_t column) {
            if (!s.bias_and_relu) return sum;
            return std::max(0.0, sum + static_cast<double>(noise(kSeedBias, column)));
        };
        require_right("matmul", s, la, lb, then, x.want<float>());
        *workspace = gpu::Buffer<std::byte>(matmul_workspace_bytes(
            {x.input<float>(0, 0), la}, {x.input<float>(0, 1), lb}, {x.want<float>(), lout}));
        *room = std::make_unique<gpu::Buffer<float>>(s.M * s.N);
        if (has_peer() && !s.bias_and_relu) {
            *peer = peer_product({x.input<float>(0, 0), la}, {x.input<float>(0, 1), lb},
                                 {(*room)->data(), lout});
        }
        const auto one = [=](int set) {
            matmul_cuda({(*arena)->input<float>(set, 0), la}, {(*arena)->input<float>(set, 1), lb},
                        epilogue(), {(*arena)->output<float>(set), lout},
                        {.path = path, .workspace = *workspace});
        };
        return Trial{one, x.outcomes()};
    };
    if (has_peer() && !s.bias_and_relu) {
        v.peer = "cuBLAS";
        v.run_peer = [=](int i) {
            const int set = i % (*arena)->sets();
            (*peer)((*arena)->input<float>(set, 0), (*arena)->input<float>(set, 1),
                    (*room)->data());
        };
    }
    return v;
}

namespace {

void bench_chosen(lesson::Report& report, const std::string& op, const Sizes& s) {
    Version v = timed_matmul(op, s);
    SmallProduct small({67, 70, 35, s.a_transposed, s.b_transposed});
    v.version = "matmul_cuda";
    v.path = chosen_for(s, true);
    v.check = small.trial([](auto a, auto b, auto out) { matmul_cuda(a, b, out); });
    report.port(v);
}

}  // namespace

void bench_all(lesson::Report& report) {
    for (const MatmulStep& step : ladder()) {
        Version v = timed_matmul("matmul", {4096, 4096, 4096}, step.path);
        SmallProduct small({100, 140, 40});
        v.version = step.name();
        v.check = small.trial(
            [&](auto a, auto b, auto out) { matmul_cuda(a, b, out, {.path = step.path}); });
        report.port(v);
    }
    for (const std::int64_t n : {4096, 8192}) {
        if (!gpu::has_tile()) break;
        Version v = timed_matmul("matmul", {n, n, n}, MatmulPath::tile);
        SmallProduct small({100, 140, 40});
        v.version = name(MatmulPath::tile);
        v.check = small.trial(
            [](auto a, auto b, auto out) { matmul_cuda(a, b, out, {.path = MatmulPath::tile}); });
        report.port(v);
    }
    for (const MatmulPath path : {MatmulPath::shared_tile, MatmulPath::transposed_tile}) {
        const Sizes large{4096, 4096, 4096, false, true};
        Version v = timed_matmul("matmul, b transposed, two steps", large, path);
        SmallProduct small({100, 140, 40, false, true});
        v.version = name(path);
        v.check =
            small.trial([&](auto a, auto b, auto out) { matmul_cuda(a, b, out, {.path = path}); });
        report.port(v);
    }
    for (const std::int64_t n : {512, 1024, 1536, 2048, 4096, 8192}) {
        bench_chosen(report, "matmul, squares", {n, n, n});
    }
    for (const std::int64_t n : {2048, 4096}) {
        bench_chosen(report, "matmul, b transposed", {n, n, n, false, true});
        bench_chosen(report, "matmul, a transposed", {n, n, n, true, false});
    }
    for (const Sizes& s : std::vector<Sizes>{{4097, 4093, 4099},
                                             {1000, 1000, 1000},
                                             {4096, 4096, 1},
                                             {4096, 4096, 3},
                                             {4096, 4096, 17},
                                             {4096, 4096, 64}}) {
        bench_chosen(report, "matmul, awkward", s);
    }
    for (const std::int64_t tokens : {1, 4, 16, 32, 64, 128, 512, 2048, 8192}) {
        for (const auto& [n, k] :
             std::vector<std::pair<std::int64_t, std::int64_t>>{{2304, 768},
                                                                {768, 3072},
                                                                {4800, 1600},
                                                                {1600, 6400},
                                                                {6144, 4096},
                                                                {28672, 4096}}) {
            bench_chosen(report, "matmul, weights", {tokens, n, k});
        }
    }
    for (const std::int64_t tokens : {1, 16, 128}) {
        bench_chosen(report, "matmul, weights (N, K)", {tokens, 28672, 4096, false, true});
    }
    for (const std::int64_t tokens : {1, 4, 16, 1024}) {
        bench_chosen(report, "matmul, logits", {tokens, 50257, 768, false, true});
    }
    bench_bf16(report);
    for (const std::int64_t tokens : {1, 64, 1024}) {  // only peer: PyTorch, in two launches
        bench_chosen(report, "linear, bias and ReLU", {tokens, 3072, 768, false, true, true});
    }
}

}  // namespace sixdays::day05_matmul
