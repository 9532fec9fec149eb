// The argument checks that CPU reference and kernel share.
#include "day01_flat_memory/picture.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day01_flat_memory {

void check_picture(const View<std::uint8_t>& out) {
    require_rank("picture", "out", out, 2);
    require_rows_fit("picture", "out", out);
    require_contiguous("picture", "out", out);
    require_memory("picture", "out", out);
}

}  // namespace sixdays::day01_flat_memory
