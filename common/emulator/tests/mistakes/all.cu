// All planted bugs. The emulator runs them (emulator_tests), and so does a GPU, one per process
// (emulator_mistakes_cuda).
#include <cuda_runtime_api.h>

#include "common/emulator/tests/mistakes.hpp"

namespace sixdays::emulator::tests {

const std::vector<Mistake>& mistakes() {
    static const std::vector<Mistake> all = [] {
        std::vector<Mistake> every;
        for (const auto& kind : {bounds_mistakes(), races_mistakes(), fences_mistakes(),
                                 barriers_mistakes(), others_mistakes()}) {
            every.insert(every.end(), kind.begin(), kind.end());
        }
        return every;
    }();
    return all;
}

void launch(const Mistake& mistake, const float* in, float* out) {
    const auto grid = static_cast<unsigned>(mistake.grid);
    const auto block = static_cast<unsigned>(mistake.block);
    const auto shared_bytes = static_cast<std::size_t>(mistake.shared_bytes);
    const auto kernel = mistake.kernel;
#ifdef SIXDAYS_EMULATED
    // As translate/ would write the launch below, but with the bug's name for the reports.
    const auto pointer = [kernel](auto) { return kernel; };
    const auto call = [kernel](auto... args) { kernel(args...); };
    configure(mistake.name, pointer, call, grid, block, shared_bytes)(in, mistake.n, out);
#else
    kernel<<<grid, block, shared_bytes>>>(in, mistake.n, out);
#endif
}

}  // namespace sixdays::emulator::tests
