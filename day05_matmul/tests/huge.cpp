// Offsets of more than 32 bits, with all the memory: the emulator, whose device has 8 GiB, tests
// only the ends (all_paths.cpp).
#include "day05_matmul/tests/helpers.hpp"

using namespace sixdays;
using namespace sixdays::day05_matmul;
using namespace sixdays::testing;

namespace {

constexpr std::int64_t kTwo31 = std::int64_t{1} << 31;

// Device memory that holds a matrix whose rows (or columns) are so far apart that they end past
// 2^32 elements. Only what belongs to the matrix is ever touched.
class FarApart {
public:
    explicit FarApart(std::int64_t elements) : memory_(elements) {}

    /// @param layout  one of the strides is 1
    View<float> holding(const Tensor<float>& values, const Layout& layout) {
        lines(layout, [&](std::int64_t first, const Shape& at, int along) {
            std::vector<float> line(static_cast<std::size_t>(layout.extent(along)));
            for (std::int64_t i = 0; i < layout.extent(along); ++i) {
                line[static_cast<std::size_t>(i)] =
                    along == 1 ? values(at[0], i) : values(i, at[0]);
            }
            memory_.upload(line.data(), layout.extent(along), first);
        });
        return memory_.view(layout);
    }
    bool holds(const Tensor<float>& want, const Layout& layout) const {
        bool same = true;
        lines(layout, [&](std::int64_t first, const Shape& at, int along) {
            const std::vector<float> line = memory_.download(first, layout.extent(along));
            for (std::int64_t i = 0; i < layout.extent(along); ++i) {
                same &= line[static_cast<std::size_t>(i)] ==
                        (along == 1 ? want(at[0], i) : want(i, at[0]));
            }
        });
        return same;
    }

private:
    // f(first element, line number, the dimension along which its elements are contiguous)
    template <class F>
    static void lines(const Layout& layout, const F& f) {
        const int along = layout.stride(1) == 1 ? 1 : 0, across = 1 - along;
        for (std::int64_t i = 0; i < layout.extent(across); ++i) {
            f(i * layout.stride(across), Shape{i}, along);
        }
    }

    gpu::Buffer<float> memory_;
};

TEST_CASE("every path is correct for rows and columns past 2^32 elements", "[day05][huge]") {
    const std::int64_t room = 2 * kTwo31 + (std::int64_t{1} << 28);
    need_device_memory(4 * room + (std::int64_t{1} << 30));
    FarApart far(room);
    for (const P path : all_paths()) {
        const std::int64_t M = 33, N = 132, K = path == P::split_k ? 128 : 16;
        const Tensor<float> a = whole({M, K}, 1), b = whole({K, N}, 2), poison = whole({M, N}, 3);
        HostOut<float> want({M, N});
        matmul_cpu(a.view(), b.view(), want.view());
        const auto check = [&](int which, bool columns) {
            CAPTURE(name(path), which, columns);
            const Shape shape = which == 0 ? Shape{M, K} : which == 1 ? Shape{K, N} : Shape{M, N};
            // So far apart that the last one begins just past 2^32, at a multiple of 16 bytes.
            const std::int64_t pitch = (2 * kTwo31 / (shape[columns ? 1 : 0] - 1) + 8) / 4 * 4;
            const Layout layout = columns ? Layout(shape, {1, pitch}) : Layout(shape, {pitch, 1});
            DeviceIn<float> da(a), db(b);
            DeviceOut<float> out({M, N});
            const View<float> x = far.holding(which == 0 ? a : which == 1 ? b : poison, layout);
            const View<const float> va = which == 0 ? x : da.view(),
                                    vb = which == 1 ? x : db.view();
            const View<float> vout = which == 2 ? x : out.view();
            if (rejection([&] { (void)matmul_workspace_bytes(va, vb, vout, path); }) != "")
                return false;
            gpu::Buffer<std::byte> memory(matmul_workspace_bytes(va, vb, vout, path));
            matmul_cuda(va, vb, vout, {.path = path, .workspace = memory});
            if (which == 2) {
                CHECK(far.holds(want.values(), layout));
            } else {
                CHECK(out.matches(want));
            }
            return true;
        };
        for (const int which : {0, 1, 2}) {
            CHECK(check(which, false));  // every path supports rows that are far apart
            (void)check(which, true);    // columns: those of any layout
        }
    }
}

TEST_CASE("every path is correct past 2^31 outputs", "[day05][huge]") {
    need_device_memory(40 * kTwo31 / 2);
    const std::int64_t most = kTwo31 + (std::int64_t{1} << 23);
    gpu::Buffer<float> memory(most);
    // Operands repeat: a few elements are read again and again, by strides that overlap.
    const Tensor<float> numbers = whole({most / 32 + 4096}, 1);
    const gpu::Buffer<float> device(numbers);
    for (const P path : all_paths()) {
        const bool few = path == P::skinny;
        const std::int64_t K = path == P::split_k ? 128 : 16;
        const std::int64_t M = few ? 33 : 65600, N = few ? kTwo31 / 33 / 4 * 4 + 8 : 32772;
        CAPTURE(name(path), M, N, K);
        const Layout la({M, K}, {20, 1}), lb({K, N}, {4, 1});
        const View<const float> a(numbers.data(), la), b(numbers.data() + 1000, lb);
        const View<float> out = memory.view(row_major({M, N}));
        memory.fill_bytes(0xff);
        const View<const float> da = device.view(la), db = device.view(lb, 1000);
        gpu::Buffer<std::byte> room(matmul_workspace_bytes(da, db, out, path));
        matmul_cuda(da, db, out, {.path = path, .workspace = room});
        // The first, some in the middle, those around 2^31, the last.
        const std::int64_t length = std::min<std::int64_t>(N, 5000);
        for (const std::int64_t first :
             {std::int64_t{0}, M * N / 2, std::min(kTwo31 - length / 2, M * N - length),
              M * N - length}) {
            const std::vector<float> got = memory.download(first, length);
            std::vector<float> want(got.size());
            for (std::int64_t i = 0; i < length; ++i) {
                const std::int64_t m = (first + i) / N, n = (first + i) % N;
                float& sum = want[static_cast<std::size_t>(i)];
                for (std::int64_t k = 0; k < K; ++k) sum += a(m, k) * b(k, n);
            }
            CAPTURE(first);
            CHECK(equal(Tensor<float>({length}, got).view(), Tensor<float>({length}, want).view()));
        }
    }
}

TEST_CASE("a stack is correct past 2^31 outputs", "[day05][huge]") {
    need_device_memory(40 * kTwo31 / 2);
    for (const P path : all_paths()) {
        const std::int64_t M = 33, N = 132, K = path == P::split_k ? 128 : 16;
        const std::int64_t matrices = kTwo31 / (M * N) + 3;
        if (path == P::one_element || path == P::tile) continue;  // half a million launches
        CAPTURE(name(path), matrices);
        const Tensor<float> numbers = whole({4 * matrices + M * K}, 1), b = whole({K, N}, 2);
        const gpu::Buffer<float> da(numbers), db(b);
        gpu::Buffer<float> out(matrices * M * N);
        out.fill_bytes(0xff);
        const Layout la({matrices, M, K},
                        {4, K, 1});  // each begins a float4 after the one before it
        const View<const float> va = da.view(la), vb = db.view({K, N});
        const View<float> vout = out.view({matrices, M, N});
        gpu::Buffer<std::byte> room(matmul_workspace_bytes(va, vb, vout, path));
        matmul_cuda(va, vb, vout, {.path = path, .workspace = room});
        for (const std::int64_t i : {std::int64_t{0}, matrices / 2, matrices - 1}) {
            HostOut<float> want({M, N});
            matmul_cpu({numbers.data() + 4 * i, Shape{M, K}}, b.view(), want.view());
            const std::vector<float> got = out.download(i * M * N, M * N);
            CHECK(equal(Tensor<float>({M, N}, got), want.values()));
        }
    }
}

}  // namespace
