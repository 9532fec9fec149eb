#include "day05_matmul/run/product.hpp"

namespace sixdays::day05_matmul {

std::string to_string(const Sizes& s) {
    return sixdays::to_string(Shape{s.M, s.N, s.K}) + (s.a_transposed ? ", a transposed" : "") +
           (s.b_transposed ? ", b transposed" : "");
}

float noise(std::uint64_t seed, std::int64_t i) {
    std::uint64_t z = (static_cast<std::uint64_t>(i) + seed) * 0x9e3779b97f4a7c15u;  // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z ^= z >> 27;
    return (static_cast<float>(z % 513) - 256) / 256;
}

std::vector<MatmulStep> ladder() {
    std::vector<MatmulStep> steps;
    for (int i = 0; i <= static_cast<int>(MatmulPath::whole_tiles); ++i) {
        steps.push_back({i + 1, static_cast<MatmulPath>(i)});
    }
    return steps;
}

std::string chosen_for(const Sizes& s, bool workspace) {
    auto* const memory = reinterpret_cast<float*>(std::uintptr_t{1} << 40);  // never read
    const View<const float> a(memory, operand(s.M, s.K, s.a_transposed));
    const View<const float> b(memory, operand(s.K, s.N, s.b_transposed));
    const View<float> out(memory, row_major({s.M, s.N}));
    const std::int64_t bytes = workspace ? matmul_workspace_bytes(a, b, out) : 0;
    return name(choose_matmul(a, b, {}, out, gpu::Workspace(memory, bytes)));
}

}  // namespace sixdays::day05_matmul
