// transpose_cuda is the ladder's four best kernels: which one, choose_transpose() says.
#include "common/gpu/launch.hpp"
#include "day03_views/steps/steps.hpp"

namespace sixdays::day03_views {

void transpose_bytes_cuda(const BytesIn& in, const BytesOut& out, gpu::Stream stream) {
    check_transpose(in, out);
    if (out.layout.size() == 0) return;
    const Matrices x = matrices_to_transpose(in, out);
    switch (choose_transpose(in, out)) {
        case TransposePath::sixteen_bytes:
            return launch_sixteen_bytes(x, stream);
        case TransposePath::packed_bytes:
            return launch_packed_bytes(x, in.element, stream);
        case TransposePath::whole_sectors:
            return launch_whole_sectors(x, in.element, stream);
        case TransposePath::single_elements:
            return launch_in_flight(x, in.element, stream);
    }
}

}  // namespace sixdays::day03_views
