// CUDA in the spellings of many authors: all versions in language.cu do the same.
#include "common/emulator/tests/language.hpp"

#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

// The last error: the report, or what cudaGetErrorString() says; "" if there was none.
std::string told() {
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) return "";
    const auto report = last_report();
    return report ? report->text : cudaGetErrorString(error);
}

bool contains(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("every spelling of a kernel and its launch runs") {
    std::vector<int> numbers(64);
    std::iota(numbers.begin(), numbers.end(), 1000);
    const std::vector<int> reversed(numbers.rbegin(), numbers.rend());
    for (int i = 0; i < kSpellingCount; ++i) {
        INFO(kSpellings[i].name);
        const Device<int> in(numbers), out(std::vector<int>(64, -1));
        kSpellings[i].reverse(in.data(), out.data());
        CHECK(told() == "");
        CHECK(out.host() == reversed);
    }
}

TEST_CASE("a kernel called without <<<>>> is reported and does not run") {
    const Device<int> out(std::vector<int>(64, -1));
    call_like_a_function(out.data());
    const std::string host = told();
    CHECK(contains(host, "language.cu:"));
    CHECK(contains(host, "the kernel plain is called like a function"));
    CHECK(out.host() == std::vector<int>(64, -1));

    call_from_a_kernel(out.data());
    const std::string kernel = told();
    CHECK(contains(kernel, "the kernel plain is called like a function"));
    CHECK(out.host() == std::vector<int>(64, -1));
}

TEST_CASE("a kernel's launches run when it has ended, and their launches after them") {
    const Device<int> out(std::vector<int>(64, 0));
    launch_from_a_kernel(out.data());
    CHECK(told() == "");
    std::vector<int> launches(64, 0);
    for (int threads = 64; threads > 0; threads /= 2) {
        for (int i = 0; i < threads; ++i) ++launches[static_cast<std::size_t>(i)];
    }
    CHECK(out.host() == launches);
    launch_beyond_the_end(out.data());
    CHECK(contains(told(), "thread (64,0,0) of block (0,0,0) reads 4 bytes at element 64"));
    CHECK(last_report()->kernel == "count_launches");
}

TEST_CASE("dynamic shared memory may be declared with rows") {
    const Device<int> out(std::vector<int>(64, -1));
    rows_of_dynamic_memory(out.data());
    CHECK(told() == "");
    CHECK(out.host()[63] == 1063);
}

TEST_CASE("a kernel's own allocations are device memory, and their bugs are reported") {
    const Device<int> out(std::vector<int>(64, -1));
    own_memory(out.data(), 4);
    CHECK(contains(told(), "reads 4 bytes at element 4 of an allocation of 4 elements"));
    own_memory(out.data(), 3);
    CHECK(told() == "");
    CHECK(out.host()[0] == 3);
}

TEST_CASE("kernels can access host memory once it is registered") {
    std::vector<int> numbers(64, 5);
    const Device<int> out(std::vector<int>(64, -1));
    CHECK(cudaHostRegister(numbers.data(), 64 * sizeof(int), cudaHostRegisterMapped) ==
          cudaSuccess);
    kSpellings[0].reverse(numbers.data(), out.data());
    CHECK(told() == "");
    CHECK(out.host() == numbers);
    CHECK(cudaHostUnregister(numbers.data()) == cudaSuccess);
    CHECK(cudaHostUnregister(numbers.data()) == cudaErrorInvalidValue);
    cudaGetLastError();
    kSpellings[0].reverse(numbers.data(), out.data());
    CHECK(contains(told(), "at a host address"));
}

TEST_CASE("an operation that is std::atomic on the host is atomic in kernels too") {
    const Device<unsigned> count(std::vector<unsigned>(1, 0u));
    count_by_builtin(count.data());
    CHECK(told() == "");
    CHECK(count.host()[0] == 64);
}

TEST_CASE("a kernel passed by pointer can request more than 48 KiB, up to the device's limit") {
    const Device<int> out(std::vector<int>(1, 0));
    much_shared_memory(out.data(), 0);
    CHECK(contains(told(), "102400 bytes of dynamic shared memory; this kernel may use 49152"));
    much_shared_memory(out.data(), 164 * 1024);  // the limit is 163
    CHECK(contains(told(), "this kernel may use 49152"));
    much_shared_memory(out.data(), 100 * 1024);
    CHECK(told() == "");
    CHECK(out.host().front() == 7);
}

TEST_CASE("the attribute limits dynamic shared memory; with static arrays the limit is 163 KiB") {
    const Device<int> out(std::vector<int>(1, 0));
    much_beside_an_array(out.data(), 48 * 1024);  // no request for more yet
    CHECK(contains(told(),
                   "shared arrays take 32 bytes so far, and its dynamic shared memory 49152"));
    much_beside_an_array(out.data(), 100 * 1024);
    CHECK(told() == "");
    CHECK(out.host().front() == 7);
    much_beside_an_array(out.data(), 163 * 1024);
    CHECK(contains(told(),
                   "shared arrays take 32 bytes so far, and its dynamic shared memory 166912"));
}

TEST_CASE("device variables are copied by name") {
    const std::vector<float> in{1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<float> out(8);
    through_symbols(in.data(), out.data());
    CHECK(told() == "");
    CHECK(out == std::vector<float>{11, 12, 13, 14, 15, 16, 17, 18});

    CHECK(copy_to_host_variable(in.data()) == cudaErrorInvalidSymbol);
    const std::string host = told();
    CHECK(contains(host, "language_calls.cu:"));
    CHECK(contains(host, "cudaMemcpyToSymbol: this is not a __device__ or __constant__ variable"));
    CHECK(copy_too_much_to_symbol(in.data()) == cudaErrorInvalidValue);
    CHECK(contains(told(), "16 bytes from byte 20 on: the variable has only 32 bytes"));
}

TEST_CASE("a device variable can be copied by address, but not past its end") {
    const std::vector<float> in{7, 8};
    std::vector<float> out(9, 5.0f);
    CHECK(through_its_address(in.data(), out.data(), 0) == cudaSuccess);
    CHECK(out == std::vector<float>{0, 0, 0, 0, 0, 0, 7, 8, 5});
    CHECK(told() == "");
    CHECK(through_its_address(in.data(), out.data(), 1) == cudaErrorInvalidValue);
    CHECK(contains(told(), "36 bytes: its source is the variable `in_device`, which has only 32"));
}

TEST_CASE("an overflow in host code causes a note") {
    remarks();
    CHECK(sum_on_the_host(2147483647, 1) == -2147483647 - 1);
    CHECK(told() == "");
    const auto notes = remarks();
    REQUIRE(notes.size() == 1);
    CHECK(contains(notes[0], "2147483647 + 1 does not fit into 'int'"));
}

TEST_CASE("an object with virtual functions that one kernel made can be used by the next") {
    const Device<int> out(1);
    sides_of_a_square(out.data());
    CHECK(told() == "");
    CHECK(out.host()[0] == 4);
}

TEST_CASE("a graph does the captured work at each launch and not before") {
    std::vector<unsigned> out(64);
    CHECK(by_a_graph(false, 3, out.data()) == 2);
    CHECK(told() == "");
    CHECK(out == std::vector<unsigned>(64, 0x06060606));
    CHECK(by_a_graph(true, 70000, out.data()) == 2);
    CHECK(told() == "");
    CHECK(out == std::vector<unsigned>(64, 140000));
    CHECK(node_of_another_graph() == cudaErrorInvalidValue);
    cudaGetLastError();
}

TEST_CASE("a texture is interpolated between texels, and the address mode applies outside") {
    constexpr int wrap = 0, clamp = 1, mirror = 2, border = 3;
    CHECK(sampled({false, false, clamp}, 2.5f, 1.5f) == 12);
    CHECK(sampled({false, false, clamp}, 2.99f, 1.0f) == 12);
    CHECK(sampled({false, false, clamp}, 9.0f, -3.0f) == 3);
    CHECK(sampled({false, false, border}, 4.0f, 0.0f) == 0);
    CHECK(sampled({false, true, wrap}, 1.3f, -0.5f) == 11);    // 5.2 mod 4, -1.5 mod 3
    CHECK(sampled({false, true, mirror}, 1.3f, -0.1f) == 2);   // mirrored at the edge
    CHECK(sampled({true, false, clamp}, 2.0f, 1.0f) == 6.5f);  // between 1, 2, 11 and 12
    CHECK(sampled({true, false, clamp}, 0.0f, 0.0f) == 0);
    CHECK(sampled({true, false, border}, 4.0f, 0.5f) == 1.5f);  // half of 3
    CHECK(sampled({true, false, clamp}, 1.501f, 0.5f) == 1);    // weights are multiples of 1/256
    CHECK(sampled_bytes(1.5f) == 0.2f);
    for (const auto& [x, y, texel] : {std::tuple{0.5f, 0.5f, 1},
                                      {2.5f, 1.5f, 13},
                                      {3.5f, 0.5f, 3},
                                      {1.5f, 2.5f, 12},
                                      {-0.5f, -0.5f, 1}}) {
        CHECK(sampled_rows(x, y) == static_cast<float>(texel));
    }
    CHECK((sampled_pair(0.5f) == 2 && sampled_pair(1.5f) == 4 && sampled_pair(2.5f) == 4));
    CHECK(sampled_layer(1.5f, 2.5f, 1) == 121);
    CHECK(sampled_layer(1.5f, 2.5f, 0) == 21);
    // Directions to a quarter's centre on each face: texel 0, 1, 10 or 11 of faces 0 to 5.
    CHECK(sampled_cube(1, 0.5f, 0.5f) == 0);
    CHECK(sampled_cube(-1, 0.5f, 0.5f) == 101);
    CHECK(sampled_cube(0.5f, 1, 0.5f) == 211);
    CHECK(sampled_cube(0.5f, -1, 0.5f) == 301);
    CHECK(sampled_cube(0.5f, -0.5f, 1) == 411);
    CHECK(sampled_cube(0.5f, -0.5f, -1) == 510);
    CHECK(told() == "");
}

TEST_CASE("kernels can write a surface, but not past its edge") {
    const Device<float> out(12);
    through_a_surface(2, out.data());
    CHECK(told() == "");
    const std::vector<float> got = out.host();
    CHECK(got[11] == 23);
    CHECK(got[4] == 10);
    through_a_surface(3, out.data());
    CHECK(contains(told(), "byte 0 of row 3 is outside the surface"));
}

TEST_CASE("the pitch of cudaMallocPitch is a multiple of 512 bytes") {
    const std::vector<float> in{1, 2, 3, 4, 5, 6};
    std::vector<float> out(6);
    CHECK(through_pitched_rows(in.data(), out.data(), 3, 2) == 512);
    CHECK(told() == "");
    CHECK(out == std::vector<float>{11, 12, 13, 14, 15, 16});
    std::vector<float> long_rows(2 * 129);
    CHECK(through_pitched_rows(long_rows.data(), long_rows.data(), 129, 2) == 1024);
}

TEST_CASE("the suggested block size fills an SM") {
    int blocks = 0, threads = 0;
    suggested_block(&blocks, &threads, 0, 0);
    CHECK(threads == 1024);
    CHECK(blocks == 8);  // two on each of the four SMs
    suggested_block(&blocks, &threads, 0, 768);
    CHECK(threads == 512);  // 4 of them per SM; with 768 threads only 2: 1536 of 2048 threads
    CHECK(blocks == 16);
    suggested_block(&blocks, &threads, 0, 2000);
    CHECK(threads == 1024);
    suggested_block(&blocks, &threads, 100 * 1024, 0);
    CHECK(blocks == 4);
}

TEST_CASE("__trap ends the launch and is reported with line and thread") {
    stop_at_trap();
    const std::string text = told();
    CHECK(contains(text, "language_calls.cu:"));
    CHECK(contains(text, "thread (3,0,0) of block (0,0,0) stops at __trap()"));
}

TEST_CASE("PTX can use the copy engine, and bugs with it are reported") {
    std::vector<int> numbers(64);
    std::iota(numbers.begin(), numbers.end(), 1000);
    const std::vector<int> reversed(numbers.rbegin(), numbers.rend());
    struct Case {
        Bulk how;
        const char* says;
    };
    const auto [how, says] =
        GENERATE(Case{Bulk::parity, ""}, Case{Bulk::loop_in_ptx, ""}, Case{Bulk::state, ""},
                 Case{Bulk::test, ""}, Case{Bulk::not_waited_for, "is the wait for that missing?"},
                 Case{Bulk::other_parity, "is the wait for that missing?"},
                 Case{Bulk::unseen_barrier, "which the copy engine may not see yet"},
                 Case{Bulk::fewer_bytes_told, "128 bytes of 64 are in flight. No thread is left"},
                 Case{Bulk::odd_size, "a bulk copy of 120 bytes"},
                 Case{Bulk::past_the_end, "one past its end"});
    const auto order = GENERATE(Order::forward, Order::reversed);
    set_order(order);
    const Device<int> in(numbers), out(std::vector<int>(64, -1));
    reverse_in_bulk(in.data(), out.data(), how);
    set_order(Order::forward);
    const std::string text = told();
    clear_report();
    INFO(text);
    if (*says != '\0') {
        CHECK(contains(text, says));
        CHECK(contains(text, "language_calls.cu:"));
    } else {
        CHECK(text == "");
        CHECK(out.host() == reversed);
    }
}
