// The ways to compute a product, by name.
#include "day05_matmul/tuning.hpp"

#include "day05_matmul/matmul.hpp"
#include "day05_matmul/steps/matmul/steps.hpp"

namespace sixdays::day05_matmul {

std::vector<Candidate> candidates(View<const float> a, View<const float> b, View<float> out) {
    const Problem x = plan_matmul(a, b, {}, out, {}).problem;
    const std::int64_t most = matmul_workspace_bytes(a, b, out);
    const MatmulPath chosen = choose(x, most);
    std::vector<Candidate> all;
    for (int i = 0; i <= static_cast<int>(MatmulPath::shallow); ++i) {
        const auto path = static_cast<MatmulPath>(i);
        if (path == MatmulPath::whole_tiles || !missing(path, x).empty()) continue;
        all.push_back({name(path), path == chosen, matmul_workspace_bytes(a, b, out, path),
                       [=](gpu::Workspace workspace) {
                           matmul_cuda(a, b, out, {.path = path, .workspace = workspace});
                       }});
    }
    const struct {
        WholeTile cut;
        const char* name;
    } cuts[] = {{WholeTile::large, "whole tiles of 128 x 256"},
                {WholeTile::medium, "whole tiles of 64 x 64"},
                {WholeTile::small, "whole tiles of 32 x 128"}};
    for (const auto& c : cuts) {
        if (!fits(c.cut, x)) continue;
        const bool taken = chosen == MatmulPath::whole_tiles && c.cut == cut_for(x);
        all.push_back({c.name, taken, 0, [x, cut = c.cut](gpu::Workspace) {
                           launch_matmul_whole_tiles(cut, x, {});
                       }});
    }
    return all;
}

}  // namespace sixdays::day05_matmul
