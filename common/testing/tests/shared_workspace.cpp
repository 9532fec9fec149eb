// A shared workspace accepts what a call may do to it, and reports the rest.
#include <set>

#include "common/testing/shared_workspace.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;

namespace {

constexpr std::int64_t kFront = gpu::Carver::kCounterBytes;

// As a kernel would.
void write(const gpu::Workspace& memory, std::int64_t at, unsigned value) {
    gpu::detail::copy_to_device(static_cast<std::byte*>(memory.data) + at, &value, sizeof value);
}
unsigned read(const gpu::Workspace& memory, std::int64_t at) {
    unsigned value = 0;
    gpu::detail::copy_to_host(&value, static_cast<std::byte*>(memory.data) + at, sizeof value);
    return value;
}

}  // namespace

TEST_CASE("before every call, the counters are 0 and the memory after them is garbage",
          "[testing][device][small]") {
    SharedWorkspace shared(kFront + 1000);
    std::set<unsigned> found;
    const void* place = shared.next(0).data;
    for (int call = 0; call < 6; ++call) {
        const gpu::Workspace memory = shared.next(kFront + 1000);
        CHECK(memory.data == place);
        CHECK(memory.bytes == kFront + 1000);
        CHECK(read(memory, 0) == 0);
        CHECK(read(memory, kFront - 4) == 0);
        found.insert(read(memory, kFront + 500));
        write(memory, kFront, 7);
        write(memory, kFront + 996, 7);
        CHECK(shared.kept());
    }
    CHECK(found.size() == 4);  // all ones, 1, and two random values
    CHECK(found.count(0xFFFFFFFF) == 1);
    CHECK(found.count(1) == 1);
}

TEST_CASE("a nonzero counter and a store past the workspace are reported",
          "[testing][device][small]") {
    SharedWorkspace shared(kFront + 1000);
    const gpu::Workspace memory = shared.next(kFront + 1000);
    write(memory, 4 * 4095, 1);
    CHECK(shared.kept().text == "counter 4095 of the workspace was not left at 0");
    write(memory, 4 * 4095, 0);
    CHECK(shared.kept());
    write(memory, kFront + 1000, 0);
    CHECK(shared.kept().text == "byte 0 past the workspace of 17384 bytes was written");
    const gpu::Workspace counters_only = shared.next(kFront);
    CHECK(shared.kept());
    write(counters_only, kFront + 8, 77);
    CHECK(shared.kept().text == "byte 8 past the workspace of 16384 bytes was written");
    CHECK_THROWS_AS((void)shared.next(kFront + 1001), std::invalid_argument);
}
