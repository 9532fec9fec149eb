#include "day04_argmax/run/versions.hpp"

#include <string>

#include "common/lesson/both.hpp"
#include "common/lesson/sampled.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays::day04_argmax {

using lesson::Arena, lesson::Trial, lesson::Version;

Shape without_dim(const Shape& shape, int dim) {
    return without(row_major(shape), {dim}).shape;
}

std::vector<float> noise(bool whole) {
    std::vector<float> x(kPeriod);
    std::uint64_t state = 1;
    for (float& value : x) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto bits = static_cast<std::int64_t>(state >> 40) - (1 << 23);  // -2^23 to 2^23
        value = whole ? static_cast<float>(bits % 256) : static_cast<float>(bits) * 0x1p-23f;
    }
    return x;
}

std::shared_ptr<gpu::Buffer<std::byte>> workspace_for(ArgmaxPath path, const Shape& shape,
                                                      int dim) {
    auto memory = std::make_shared<gpu::Buffer<std::byte>>(
        argmax_workspace_bytes({nullptr, row_major(shape)}, dim, path));
    memory->fill_bytes(0);
    return memory;
}

namespace {

// An operation with an output of type T: its CPU reference and its CUDA
// version.
template <class T>
struct Pair {
    std::function<void(View<const float>, int, View<T>)> loop;
    std::function<void(View<const float>, int, View<T>, const gpu::Launch<ArgmaxPath>&)> port;
};

Pair<std::int64_t> argmax() {
    return {argmax_cpu, argmax_cuda};
}
Pair<float> reduction(Reduction what) {
    return {[what](View<const float> in, int dim, View<float> out) {
                reduce_cpu(what, in, {dim}, out);
            },
            [what](View<const float> in, int dim, View<float> out,
                   const gpu::Launch<ArgmaxPath>& how) { reduce_cuda(what, in, {dim}, out, how); }};
}

template <class T>
T of_line(const Pair<T>& pair, const Arena& arena, const Shape& shape, int dim, const Index& at,
          std::int64_t first) {
    const Layout in = row_major(shape);
    const Tensor<float> line =
        arena.gathered<float>(0, {only(in, {dim}), first + offset(without(in, {dim}), at)});
    T answer{};
    pair.loop(line.view(), 0, {&answer, Layout()});
    return answer;
}

// On a large tensor: the result must equal that of another step, and that of the CPU reference for
// some lines.
template <class T>
Trial large_trial(const Pair<T>& pair, ArgmaxPath path, const Shape& shape, int dim) {
    const Shape reduced = without_dim(shape, dim);
    const auto arena =
        std::make_shared<Arena>(std::vector<std::int64_t>{4 * size(shape)},
                                static_cast<std::int64_t>(sizeof(T)) * size(reduced));
    const std::vector<float> x = noise(std::is_same_v<T, float>);
    arena->fill(0, x.data(), 4 * kPeriod);
    const bool many = size(reduced) > 4096 && path != ArgmaxPath::walk;
    const ArgmaxPath other = many || path == ArgmaxPath::warp ? ArgmaxPath::walk : ArgmaxPath::warp;
    pair.port({arena->input<float>(0, 0), shape}, dim, {arena->template want<T>(), reduced},
              {.path = other});
    const auto memory = workspace_for(path, shape, dim);
    const auto run = [=](int set) {
        pair.port({arena->input<float>(set, 0), shape}, dim,
                  {arena->template output<T>(set), reduced}, {.path = path, .workspace = *memory});
    };
    const auto some = [=] {
        return lesson::sampled(
            View<T>(arena->template output<T>(0), reduced),
            [&](const Index& at) { return of_line(pair, *arena, shape, dim, at, 0); });
    };
    return {run, arena->outcomes(), some};
}

// On a small tensor: the device result must equal that of the CPU reference.
template <class T>
Trial small_trial(const Pair<T>& pair, ArgmaxPath path, const Shape& shape, int dim) {
    const std::vector<float> x = noise(std::is_same_v<T, float>);
    const auto in = std::make_shared<lesson::Both<float>>(
        row_major(shape), [&](std::int64_t k) { return x[static_cast<std::size_t>(k)]; });
    const auto out = std::make_shared<lesson::Both<T>>(row_major(without_dim(shape, dim)));
    pair.loop(in->host(), dim, out->host());
    const auto memory = workspace_for(path, shape, dim);
    const auto run = [=](int) {
        pair.port(in->device(), dim, out->device(), {.path = path, .workspace = *memory});
    };
    return {run, {out->outcome()}};
}

template <class T>
Version version(const std::string& op, const Pair<T>& pair, ArgmaxPath path,
                const ArgmaxCase& shapes) {
    Version v;
    v.op = op + ", dim " + std::to_string(shapes.dim);
    v.version = step_name(path);
    v.shape = to_string(shapes.large);
    v.how = "equals the CPU reference";
    v.work.bytes_read = 4.0 * static_cast<double>(size(shapes.large));
    v.work.bytes_written =
        sizeof(T) * static_cast<double>(size(without_dim(shapes.large, shapes.dim)));
    v.check = small_trial(pair, path, shapes.small, shapes.dim);
    v.timed = [=] { return large_trial(pair, path, shapes.large, shapes.dim); };
    return v;
}

}  // namespace

Version argmax_version(ArgmaxPath path, const ArgmaxCase& shapes) {
    return version("argmax", argmax(), path, shapes);
}

Version reduce_version(Reduction what, ArgmaxPath path, const ArgmaxCase& shapes) {
    return version(name(what), reduction(what), path, shapes);
}

std::int64_t argmax_of_line(const Arena& arena, const Shape& shape, int dim, const Index& at,
                            std::int64_t first) {
    return of_line(argmax(), arena, shape, dim, at, first);
}

}  // namespace sixdays::day04_argmax
