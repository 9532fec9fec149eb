// The argument checks of attention_bf16 and the choice of its path.
#include "day06_transformer_ops/attention_bf16/attention_bf16.hpp"

#include "common/gpu/device.hpp"
#include "common/gpu/tile.hpp"
#include "common/tensor/names.hpp"
#include "common/tensor/vectorized.hpp"
#include "day06_transformer_ops/attention_bf16/attention_bf16_problem.hpp"
#include "day06_transformer_ops/attention_bf16/tile.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

constexpr std::int64_t kMostOfRows = INT32_MAX;
// Where step 4 is faster than step 3: with heads of 128 from 256 keys on; with heads of 64 from
// 1,536 on, and from 512 on if each of its blocks of 192 queries has its own SM. Measured on an
// H200: 12 heads, causal, cold cache, CUDA graph, median of 11, microseconds of step 3 and step 4:
//
//                    D = 64, B = 1    D = 64, B = 4    D = 128, B = 1    D = 128, B = 4
//     T = S =  128     7.2    7.7       7.6    8.3        9.3    9.4       9.9    10.3
//              256     9.5    9.6      10.1   10.4       12.8   10.7      14.0    13.0
//              512    14.0   13.1      16.6   18.6       19.9   13.9      26.0    23.0
//             1024    23.1   19.3      30.1   37.7       34.1   20.6      48.8    45.9
//             1536    33.2   26.0      58.2   53.0       50.4   26.8      93.2    87.4
//             2048    45.4   31.9      94.7   83.1       71.8   33.4     156.4   121.8
//             4096    96.3   67.2     319.6  264.5      159.8  103.3     537.7   385.2
template <class T>
bool long_enough(const View<const T>& q, const View<const T>& k, int multiprocessors) {
    const std::int64_t keys = k.extent(k.rank() - 2), tokens = q.extent(q.rank() - 2);
    const std::int64_t D = q.extent(q.rank() - 1);
    if (D > 64) return keys >= 256;
    if (keys < 512 || q.size() == 0) return false;
    const std::int64_t heads = q.size() / (tokens * D), blocks = heads * ((tokens + 191) / 192);
    return keys >= 1536 || blocks <= multiprocessors;
}

// Are rows made of whole vectors (eight elements, 16 bytes) and aligned to 16 bytes?
template <class T>
bool vectorized(const View<const T>& x) {
    return x.size() == 0 || has_wider(x.data, x.layout, sizeof(T));
}

template <class T>
bool all_vectorized(View<const T> q, View<const T> k, View<const T> v, View<T> out) {
    return vectorized(q) && vectorized(k) && vectorized(v) && vectorized(View<const T>(out));
}

// The steps count rows in 32 bits.
template <class T>
bool few_rows(const View<const T>& q, const View<const T>& k) {
    return q.extent(q.rank() - 2) <= kMostOfRows && k.extent(k.rank() - 2) <= kMostOfRows;
}

// Does the path 'tile' accept these views? They are made of whole vectors already.
template <class T>
bool in_tiles(const View<const T>& q, const View<const T>& k, const View<const T>& v,
              const View<T>& out, const View<float>& log_sums) {
    const auto views = stacked<T>(kStackOfHalves, q, k, v, out, log_sums);
    return views && is_near(views->q) && is_near(views->k) && is_near(views->v) &&
           is_near(views->out);
}

template <class T>
bool in_planes(const View<const T>& x) {
    const int s = x.rank() - 2;
    return planes_of(without(x.layout, {s, s + 1}), x.extent(s), x.stride(s), x.extent(s + 1))
        .has_value();
}

// The unmet requirement of the path 'warpgroups' beyond those; "" if it has none unmet.
template <class T>
std::string missing_for_warpgroups(const View<const T>& q, const View<const T>& k,
                                   const View<const T>& v, bool has_length) {
    const std::int64_t D = q.extent(q.rank() - 1);
    if (D != 64 && D != 128) return "heads of 64 or 128 numbers, not of " + std::to_string(D);
    if (has_length) return "all keys to count, and no length in memory";
    if (in_planes(q) && in_planes(k) && in_planes(v)) return "";
    return "heads of q, k and v that lie side by side in rows, or in matrices at equal steps; q "
           "has " +
           to_string(q.layout) + ", k " + to_string(k.layout) + ", v " + to_string(v.layout);
}

}  // namespace

std::optional<Planes> planes_of(const Layout& heads, std::int64_t rows, std::int64_t pitch,
                                std::int64_t D) {
    if (rows <= 1) pitch = D;  // the pitch of a single row is unused
    // Heads less than a row apart are side by side in the rows; the others are matrices.
    Planes x{1, INT64_MAX, D, pitch};
    for (int i = 0; i < heads.rank(); ++i) {
        if (heads.extent(i) <= 1 || heads.stride(i) == 0) continue;
        if (heads.stride(i) < 0) return {};
        if (heads.stride(i) < pitch) x.columns += (heads.extent(i) - 1) * heads.stride(i);
        if (heads.stride(i) >= pitch) x.plane_pitch = std::min(x.plane_pitch, heads.stride(i));
    }
    for (int i = 0; i < heads.rank(); ++i) {
        if (heads.extent(i) <= 1 || heads.stride(i) < pitch) continue;
        if (heads.stride(i) % x.plane_pitch != 0) return {};
        x.planes += (heads.extent(i) - 1) * (heads.stride(i) / x.plane_pitch);
    }
    if (x.planes == 1) x.plane_pitch = pitch;  // unused: any value that no column reaches
    constexpr std::int64_t kFarthest = std::int64_t{1} << 38;
    const bool fits = x.columns <= std::min(pitch, kMostOfRows) && x.planes <= kMostOfRows &&
                      x.plane_pitch < kFarthest;  // and so is `pitch`, which is at most as large
    return fits ? std::optional(x) : std::nullopt;
}

template <class T>
AttentionBf16Path choose_attention_bf16(View<const T> q, View<const T> k, View<const T> v,
                                        View<T> out, bool has_length, bool on_hopper,
                                        int multiprocessors) {
    const bool fits =
        q.extent(q.rank() - 1) <= kMostOfHead && few_rows(q, k) && all_vectorized(q, k, v, out);
    if (!fits) return AttentionBf16Path::four_passes;
    return on_hopper && long_enough(q, k, multiprocessors) &&
                   missing_for_warpgroups(q, k, v, has_length).empty()
               ? AttentionBf16Path::warpgroups
               : AttentionBf16Path::guessed_maximum;
}

template <class T>
AttentionBf16Path plan_attention_bf16(View<const T> q, View<const T> k, View<const T> v,
                                      const AttentionOptions& options, View<T> out,
                                      View<float> log_sums,
                                      const gpu::Launch<AttentionBf16Path>& how) {
    require_attention("attention_bf16", q, k, v, options, out);
    require_known_path("attention_bf16", how.path);
    if (options.scale < 0) {
        reject("attention_bf16: scale is ", options.scale,
               ", but must not be negative; 0 stands for 1 / sqrt(D)");
    }
    if (log_sums.data != nullptr) {
        require_log_sums("attention_bf16", q, k, v, options, out, log_sums);
    }
    const bool has_length = options.length.data != nullptr;
    const AttentionBf16Path path =
        how.path ? *how.path : choose_attention_bf16(q, k, v, out, has_length);
    if (path == AttentionBf16Path::four_passes || out.size() == 0) return path;
    const std::int64_t D = q.extent(q.rank() - 1);
    if (D > kMostOfHead) {
        reject("attention_bf16: a head of ", D, " numbers; ", kMostOfHead,
               " is the most that the path '", name(path), "' takes. 'four passes' takes any");
    }
    if (!few_rows(q, k)) {
        reject("attention_bf16: ", q.extent(q.rank() - 2), " tokens and ", k.extent(k.rank() - 2),
               " keys; ", kMostOfRows, " of each is the most that the path '", name(path),
               "' takes. 'four passes' takes any number");
    }
    if (!all_vectorized(q, k, v, out)) {
        reject("attention_bf16: the path '", name(path),
               "' needs q, k, v and out whose rows are whole vectors of eight numbers along memory "
               "and begin at multiples of 16 bytes; q has ",
               q.layout, ", k ", k.layout, ", v ", v.layout, ", out ", out.layout);
    }
    if (path == AttentionBf16Path::tile && !in_tiles(q, k, v, out, log_sums)) {
        reject(
            "attention_bf16: the path 'tile' needs stacks of at most three dimensions, once "
            "simplified, ",
            gpu::kNoNegativeStride,
            ", and first and last numbers less than 2^31 numbers apart; q has ", q.layout, ", k ",
            k.layout, ", v ", v.layout, ", out ", out.layout);
    }
    if (path == AttentionBf16Path::warpgroups) {
        const std::string missing =
            !gpu::on_hopper() && !gpu::is_emulated()
                ? "a GPU of compute capability 9.0 (Hopper), or the emulator"
                : missing_for_warpgroups(q, k, v, has_length);
        if (!missing.empty()) reject("attention_bf16: the path 'warpgroups' needs ", missing);
    }
    return path;
}

template <class T>
View<float> attention_bf16_scores(gpu::Carver& carver, View<const T> q, View<const T> k) {
    return carver.take<float>({rows_along(q, q.rank() - 1).count(), k.extent(k.rank() - 2)});
}

template <class T>
std::int64_t attention_bf16_workspace_bytes(View<const T> q, View<const T> k,
                                            AttentionBf16Path path) {
    if (path != AttentionBf16Path::four_passes) return 0;
    return gpu::bytes_to_carve([&](gpu::Carver& c) { return attention_bf16_scores(c, q, k); });
}

const char* name(AttentionBf16Path path) {
    static constexpr Named<AttentionBf16Path> kNames[] = {
        {AttentionBf16Path::four_passes, "four passes"},
        {AttentionBf16Path::tensor_cores, "tensor cores"},
        {AttentionBf16Path::guessed_maximum, "guessed maximum"},
        {AttentionBf16Path::warpgroups, "warpgroups"},
        {AttentionBf16Path::tile, "tile"},
    };
    return name_in(kNames, path);
}

#define SIXDAYS_FOR(T)                                                                            \
    template AttentionBf16Path choose_attention_bf16(View<const T>, View<const T>, View<const T>, \
                                                     View<T>, bool, bool, int);                   \
    template AttentionBf16Path plan_attention_bf16(View<const T>, View<const T>, View<const T>,   \
                                                   const AttentionOptions&, View<T>, View<float>, \
                                                   const gpu::Launch<AttentionBf16Path>&);        \
    template View<float> attention_bf16_scores(gpu::Carver&, View<const T>, View<const T>);       \
    template std::int64_t attention_bf16_workspace_bytes(View<const T>, View<const T>,            \
                                                         AttentionBf16Path);
SIXDAYS_FOR(bf16)
SIXDAYS_FOR(f16)
#undef SIXDAYS_FOR

}  // namespace sixdays::day06_transformer_ops
