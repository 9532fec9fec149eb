// The launcher: what can be known before the launch is worked out on the CPU, once, and not by a
// million threads. The kernels are the ladder's, in steps/.
#include "day02_strides/gather.hpp"

#include "day02_strides/steps/steps.hpp"

namespace sixdays::day02_strides {

// [launch]
void gather_cuda(View<const float> in, View<float> out, gpu::Stream stream) {
    check_gather(in, out);
    switch (choose_gather(in, out)) {
        case GatherPath::straight:
            return gather_straight(in, out, stream);
        case GatherPath::quads:
            return gather_quads(in, out, stream);
        case GatherPath::by_rank:
            return gather_by_rank(in, out, stream);
        case GatherPath::any_size:
            return gather_unravel(in, out, stream);
    }
}
// [launch]

}  // namespace sixdays::day02_strides
