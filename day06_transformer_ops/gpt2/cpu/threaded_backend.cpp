#include "day06_transformer_ops/gpt2/cpu/threaded_backend.hpp"

#include "common/tensor/transform.hpp"
#include "day06_transformer_ops/gpt2/cpu/attend_fast.hpp"
#include "day06_transformer_ops/gpt2/weights/linear.hpp"

namespace sixdays::gpt2 {

ThreadedBackend::ThreadedBackend(const Sizes& sizes, const Shape& cache, int threads)
    : HostBackend(sizes, cache), threads_(threads), scores_({threads_.count(), cache[2]}) {}

std::string ThreadedBackend::name() const {
    return sentence("cpu, ", threads_.count(), threads_.count() == 1 ? " thread" : " threads");
}

void ThreadedBackend::embed_tokens(const Weight& embedding) {
    for (std::int64_t t = 0; t < T_; ++t) {
        const std::int64_t id = ids()(t);
        to_float_cpu(gpt2::rows(embedding, id, id + 1), slice(x(), 0, t, t + 1));
    }
}

void ThreadedBackend::attend(std::int64_t layer) {
    const day06_transformer_ops::Heads<float> of = heads();
    const KvSlots held = cache_.held(layer);
    const View<float> out = mixed_heads();
    const std::int64_t H = sizes_.heads, sharing = H / kv_heads();  // heads per key and value
    threads_.run([&](int part) {
        // Queries of all heads, distributed; query t also sees the position_ tokens before.
        const Range queries = part_of(H * T_, part, threads_.count());
        for (std::int64_t i = queries.begin; i < queries.end; ++i) {
            const std::int64_t h = i / T_, t = i % T_, n = position_ + t + 1;
            const auto row = [&](const auto& x) {
                return select(select(select(x, 0, 0), 0, h), 0, t);
            };
            const auto seen = [&](const View<float>& cached) {
                return slice(select(cached, 0, h / sharing), 0, 0, n);
            };
            attend_fast(row(of.q), seen(held.keys), seen(held.values), &scores_(part, 0), row(out));
        }
    });
}

void ThreadedBackend::for_rows(
    std::int64_t count, const std::function<void(std::int64_t begin, std::int64_t end)>& work) {
    threads_.run([&](int part) {
        const Range rows = part_of(count, part, threads_.count());
        if (rows.begin != rows.end) work(rows.begin, rows.end);
    });
}

Range ThreadedBackend::multiply(const Weight& weight, View<const float> in, View<float> out,
                                int part) {
    const Range columns = part_of(weight.shape[0], part, threads_.count());
    linear_fast(gpt2::rows(weight, columns.begin, columns.end), in,
                slice(out, 1, columns.begin, columns.end));
    return columns;
}

void ThreadedBackend::product(const Weight& weight, View<const float> in, View<float> out) {
    threads_.run([&](int part) { multiply(weight, in, out, part); });
}

}  // namespace sixdays::gpt2
