#include "day02_strides/exercises/kv_append/kv_append.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day02_strides {
namespace {

void kv_append_loop(View<const float> fresh, std::int64_t pos, View<float> cache) {
    const std::int64_t B = fresh.extent(0), H = fresh.extent(1);
    const std::int64_t n = fresh.extent(2), D = fresh.extent(3);
    for (std::int64_t b = 0; b < B; ++b) {
        for (std::int64_t h = 0; h < H; ++h) {
            for (std::int64_t t = 0; t < n; ++t) {
                for (std::int64_t c = 0; c < D; ++c) {
                    cache(b, h, pos + t, c) = fresh(b, h, t, c);
                }
            }
        }
    }
}

}  // namespace

void kv_append_cpu(View<const float> fresh, std::int64_t pos, View<float> cache) {
    check_kv_append(fresh, pos, cache);
    kv_append_loop(fresh, pos, cache);
}

void check_kv_append(const View<const float>& fresh, std::int64_t pos, const View<float>& cache) {
    const char* const op = "kv_append";
    require_rank(op, "fresh", fresh, 4);
    require_rank(op, "cache", cache, 4);
    for (const int dim : {0, 1, 3}) {
        if (fresh.extent(dim) != cache.extent(dim)) {
            reject("kv_append: fresh has shape ", fresh.shape(), ", but cache has shape ",
                   cache.shape(), "; they may differ in dimension 2 only");
        }
    }
    const std::int64_t n = fresh.extent(2), capacity = cache.extent(2);
    if (pos < 0 || n > capacity || pos > capacity - n) {
        reject("kv_append: ", n, " positions starting at ", pos,
               " do not fit into a cache with capacity ", capacity);
    }
    require_injective(op, "cache", cache);
    require_memory(op, "cache", cache);
    require_memory(op, "fresh", fresh);
    if (overlap(fresh, cache)) reject("kv_append: fresh and cache overlap");
}

}  // namespace sixdays::day02_strides
