#include "day06_transformer_ops/gpt2/weights/weight.hpp"

#include "common/tensor/arguments.hpp"
#include "common/tensor/index.hpp"
#include "common/tensor/transform.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr WeightType kTypes[] = {WeightType::f32,  WeightType::f16,  WeightType::q4_0,
                                 WeightType::q5_0, WeightType::q8_0, WeightType::q4_k,
                                 WeightType::q5_k, WeightType::q6_k, WeightType::bf16};
template <class B>
constexpr Storage storage_of_blocks(const char* name) {
    return {name, B::kWeights, sizeof(B)};
}
constexpr Storage kStorages[] = {{"F32", 1, 4},
                                 {"F16", 1, 2},
                                 storage_of_blocks<Q4Block>("Q4_0"),
                                 storage_of_blocks<Q5Block>("Q5_0"),
                                 {"Q8_0", kQ8Block, sizeof(Q8Block)},
                                 storage_of_blocks<Q4KBlock>("Q4_K"),
                                 storage_of_blocks<Q5KBlock>("Q5_K"),
                                 storage_of_blocks<Q6KBlock>("Q6_K"),
                                 {"BF16", 1, 2}};
static_assert(std::size(kTypes) == std::size(kStorages));

// The weight's bytes as blocks of type B.
template <class B>
View<const B> blocks_of(const Weight& w, WeightType type) {
    const Storage& storage = storage_of(type);
    if (w.type != type) {
        reject("weights of type ", storage_of(w.type).name, " were asked for as ", storage.name);
    }
    if (reinterpret_cast<std::uintptr_t>(w.data) % alignof(B) != 0) {
        reject("weights of type ", storage.name, " must be at a multiple of ", alignof(B),
               " bytes");
    }
    (void)bytes_of(type, w.shape);  // checks for whole blocks
    Shape shape = w.shape;
    if (shape.rank > 0) shape[shape.rank - 1] /= storage.elements;
    return {reinterpret_cast<const B*>(w.data), shape};
}

template <class T>
void convert(View<const T> in, View<float> out) {
    for (std::int64_t k = 0; k < out.size(); ++k) {
        const Index at = unravel(k, out.layout.shape);
        out(at) = static_cast<float>(in(at));
    }
}

// Blocks of quants, one run after the other.
template <class B>
void convert_runs(View<const B> in, View<float> out) {
    const int last = out.rank() - 1;
    for (std::int64_t b = 0; b < in.size(); ++b) {
        Index at = unravel(b, in.layout.shape);
        at[last] *= B::kWeights;
        for (int run = 0; run < B::kRuns; ++run) {
            const RunScales by = run_scales(in.data[b], run);
            std::uint8_t quants[kRun];
            unpack(in.data[b], run, quants);
            for (int j = 0; j < kRun; ++j, ++at[last]) {
                const float quant = static_cast<float>(quants[j] - B::kZero);
                out(at) = by.scale[j / 16] * quant - by.minimum;
            }
        }
    }
}

// Treats a vector as a matrix of one row.
template <class T>
View<T> as_matrix(const View<T>& view) {
    return view.rank() == 1 ? unsqueeze(view, 0) : view;
}

}  // namespace

const Storage& storage_of(WeightType type) {
    for (std::size_t i = 0; i < std::size(kTypes); ++i) {
        if (kTypes[i] == type) return kStorages[i];
    }
    std::string all;
    for (std::size_t i = 0; i < std::size(kTypes); ++i) {
        const char* const between = i == 0 ? "" : i + 1 < std::size(kTypes) ? ", " : " and ";
        all +=
            sentence(between, kStorages[i].name, " (", static_cast<std::uint32_t>(kTypes[i]), ")");
    }
    reject("ggml's type ", static_cast<std::uint32_t>(type), " is not read here: ", all, " are");
}

std::span<const WeightType> weight_types() {
    return kTypes;
}

std::int64_t bytes_of(WeightType type, const Shape& shape) {
    const Storage& storage = storage_of(type);
    const std::int64_t last = shape.rank > 0 ? shape[shape.rank - 1] : 1;
    if (last % storage.elements != 0) {
        reject("rows of ", last, " elements do not divide into blocks of ", storage.elements,
               ", which ", storage.name, " is made of");
    }
    Shape blocks = shape;
    if (blocks.rank > 0) blocks[blocks.rank - 1] /= storage.elements;
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(size(blocks), storage.bytes, &bytes)) {
        reject("shape ", shape, " of ", storage.name, " takes more bytes than 63 bits can count");
    }
    return bytes;
}

View<const float> Weight::as_f32() const {
    return blocks_of<float>(*this, WeightType::f32);
}
View<const f16> Weight::as_f16() const {
    return blocks_of<f16>(*this, WeightType::f16);
}
View<const bf16> Weight::as_bf16() const {
    return blocks_of<bf16>(*this, WeightType::bf16);
}
View<const Q8Block> Weight::as_q8_0() const {
    return blocks_of<Q8Block>(*this, WeightType::q8_0);
}
View<const Q4Block> Weight::as_q4_0() const {
    return blocks_of<Q4Block>(*this, WeightType::q4_0);
}
View<const Q5Block> Weight::as_q5_0() const {
    return blocks_of<Q5Block>(*this, WeightType::q5_0);
}
View<const Q4KBlock> Weight::as_q4_k() const {
    return blocks_of<Q4KBlock>(*this, WeightType::q4_k);
}
View<const Q5KBlock> Weight::as_q5_k() const {
    return blocks_of<Q5KBlock>(*this, WeightType::q5_k);
}
View<const Q6KBlock> Weight::as_q6_k() const {
    return blocks_of<Q6KBlock>(*this, WeightType::q6_k);
}

Weight rows(const Weight& matrix, std::int64_t begin, std::int64_t end) {
    if (matrix.shape.rank != 2 || begin < 0 || begin > end || end > matrix.shape[0]) {
        reject("rows [", begin, ", ", end, ") of weights of shape ", matrix.shape);
    }
    const std::int64_t row = bytes_of(matrix.type, {matrix.shape[1]});
    return {matrix.type, matrix.data + begin * row, {end - begin, matrix.shape[1]}};
}

void to_float_cpu(const Weight& w, View<float> out) {
    if (w.shape != out.layout.shape) {
        reject("to_float: the weights have shape ", w.shape, ", but out has shape ",
               out.layout.shape);
    }
    (void)bytes_of(w.type, w.shape);
    if (w.data == nullptr && out.size() > 0) reject("to_float: the weights are a null pointer");
    require_output("to_float", out);
    switch (w.type) {
        case WeightType::f32:
            return convert(w.as_f32(), out);
        case WeightType::f16:
            return convert(w.as_f16(), out);
        case WeightType::bf16:
            return convert(w.as_bf16(), out);
        case WeightType::q8_0:
            return dequantise_q8_0_cpu(as_matrix(w.as_q8_0()), as_matrix(out));
        case WeightType::q4_0:
            return convert_runs(w.as_q4_0(), out);
        case WeightType::q5_0:
            return convert_runs(w.as_q5_0(), out);
        case WeightType::q4_k:
            return convert_runs(w.as_q4_k(), out);
        case WeightType::q5_k:
            return convert_runs(w.as_q5_k(), out);
        case WeightType::q6_k:
            return convert_runs(w.as_q6_k(), out);
    }
}

}  // namespace sixdays::gpt2
