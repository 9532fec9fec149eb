// The plain loop that changes the type of every element.
#include "day03_views/combine_convert.hpp"

#include "common/tensor/arguments.hpp"
#include "common/tensor/index.hpp"

namespace sixdays::day03_views {

// --- loop ----------------------------------------------------------------------------------------
namespace {

// [convert]
template <class From, class To>
void convert_loop(View<const From> in, View<To> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.layout.shape);
        out(at) = static_cast<To>(static_cast<float>(in(at)));
    }
}
// [convert]

}  // namespace

template <class From, class To>
void convert_cpu(View<const From> in, View<To> out) {
    check_convert(in, out);
    convert_loop(in, out);
}

// --- what loop and port refuse, in the same words ------------------------------------------------

template <class From, class To>
void check_convert(const View<const From>& in, const View<To>& out) {
    require_same_shape("convert", "in", in, "out", out);
    require_injective("convert", "out", out);
    require_memory("convert", "in", in);
    require_memory("convert", "out", out);
    if (overlap(in, out)) {
        refuse(
            "convert: in and out overlap; some elements would be read after they were "
            "overwritten");
    }
}

// --- the six pairs -------------------------------------------------------------------------------

template void convert_cpu(View<const float>, View<bf16>);
template void convert_cpu(View<const float>, View<f16>);
template void convert_cpu(View<const bf16>, View<float>);
template void convert_cpu(View<const bf16>, View<f16>);
template void convert_cpu(View<const f16>, View<float>);
template void convert_cpu(View<const f16>, View<bf16>);

template void check_convert(const View<const float>&, const View<bf16>&);
template void check_convert(const View<const float>&, const View<f16>&);
template void check_convert(const View<const bf16>&, const View<float>&);
template void check_convert(const View<const bf16>&, const View<f16>&);
template void check_convert(const View<const f16>&, const View<float>&);
template void check_convert(const View<const f16>&, const View<bf16>&);

}  // namespace sixdays::day03_views
