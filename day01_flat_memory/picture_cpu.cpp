#include "day01_flat_memory/picture.hpp"

#include "day01_flat_memory/offsets.hpp"

namespace sixdays::day01_flat_memory {
namespace {

void picture_loop(const Julia& julia, std::int64_t H, std::int64_t W, std::uint8_t* out) {
    for (std::int64_t y = 0; y < H; ++y) {
        for (std::int64_t x = 0; x < W; ++x) {
            out[offset2(y, x, W)] = julia_steps(julia, x, y, W, H);
        }
    }
}

}  // namespace

void picture_cpu(const Julia& julia, View<std::uint8_t> out) {
    check_picture(out);
    picture_loop(julia, out.extent(0), out.extent(1), out.data);
}

}  // namespace sixdays::day01_flat_memory
