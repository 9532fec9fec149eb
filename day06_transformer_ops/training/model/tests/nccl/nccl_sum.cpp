// nccl_sum.cu, and trainers that use it, without NCCL and without several GPUs: nccl.h in this
// folder is a mock of both.
#define SIXDAYS_NCCL
#include <list>
#include <set>

#include "day06_transformer_ops/tests/helpers.hpp"
#include "day06_transformer_ops/training/model/nccl_sum.cu"
#include "day06_transformer_ops/training/model/trainers.hpp"

struct Communicator {
    int gpu;
};

namespace {

struct Sent {
    float* run;
    std::size_t count;
    int gpu;
    cudaStream_t stream;
};
struct World {
    int open_groups = 0, communicators = 0;
    int lost = -1;     // no call reaches this GPU
    int rejects = -1;  // its all-reduce is rejected
    int fails = -1;    // it fails during the sum
    std::vector<Sent> group = {};
    std::list<std::vector<float>> sums = {};  // still pending in the streams
};
World world;

}  // namespace

const char* ncclGetErrorString(ncclResult_t) {
    return "unhandled cuda error";
}
const char* ncclGetLastError(ncclComm_t) {
    return "its last words";
}
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int gpus, const int*) {
    for (int gpu = 0; gpu < gpus; ++gpu) comms[gpu] = new Communicator{gpu};
    world.communicators += gpus;
    return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    delete comm;
    --world.communicators;
    return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
    *state = comm->gpu == world.fails ? ncclUnhandledCudaError : ncclSuccess;
    return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
    ++world.open_groups;
    world.group.clear();
    return ncclSuccess;
}
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
    CHECK(world.open_groups == 1);  // outside of a group it would wait for the other GPUs
    CHECK((from == to && type == ncclFloat && op == ncclSum && stream != nullptr));
    if (comm->gpu == world.rejects) return ncclUnhandledCudaError;
    world.group.push_back({static_cast<float*>(to), count, comm->gpu, stream});
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
    --world.open_groups;
    if (world.rejects >= 0) return ncclUnhandledCudaError;  // then NCCL starts nothing
    std::vector<float> sum(world.group[0].count), more(sum.size());
    const std::size_t bytes = sum.size() * sizeof(float);
    for (const Sent& one : world.group) {
        cudaMemcpyAsync(more.data(), one.run, bytes, cudaMemcpyDeviceToHost, one.stream);
        if (cudaStreamSynchronize(one.stream) != cudaSuccess) return ncclUnhandledCudaError;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
    }
    world.sums.push_back(std::move(sum));
    for (const Sent& one : world.group) {
        cudaMemcpyAsync(one.run, world.sums.back().data(), bytes, cudaMemcpyHostToDevice,
                        one.stream);
    }
    return ncclSuccess;
}

namespace sixdays::day06_transformer_ops {

using namespace testing;

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 3;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int gpu) {
    return gpu == world.lost ? cudaErrorIllegalAddress : cudaSuccess;
}

namespace {

// The error message of f().
template <class F>
std::string failure(const F& f) {
    try {
        f();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "nothing failed";
}

// Three GPUs with two numbers each, and a mark after the work that computed them.
struct Three {
    NcclSum sum{3};
    gpu::Buffer<float> held[3] = {gpu::Buffer<float>(Tensor<float>({3}, {1, 2, 7})),
                                  gpu::Buffer<float>(Tensor<float>({3}, {10, 20, 7})),
                                  gpu::Buffer<float>(Tensor<float>({3}, {100, 200, 7}))};
    Three() {
        for (int gpu = 0; gpu < 3; ++gpu) sum.use(gpu), sum.mark(gpu, 5);
    }
    void add_up() { sum.add_up(5, {held[0].data(), held[1].data(), held[2].data()}, 2); }
};

}  // namespace

TEST_CASE("NCCL does one sum over all GPUs, each in its own stream", "[day06][training][small]") {
    world = {};
    {
        Three gpus;
        gpus.add_up();
        gpus.sum.wait();
        for (const auto& run : gpus.held) CHECK(run.download() == std::vector<float>{111, 222, 7});
        REQUIRE(world.group.size() == 3);
        std::set<cudaStream_t> streams;
        for (std::size_t gpu = 0; gpu < 3; ++gpu) {
            CHECK(world.group[gpu].gpu == static_cast<int>(gpu));
            streams.insert(world.group[gpu].stream);
        }
        CHECK(streams.size() == 3);
        CHECK(world.communicators == 3);
    }
    CHECK(world.communicators == 0);
    CHECK(contains(rejection([] { NcclSum four(4); }), "but this machine has 3"));
}

TEST_CASE("a GPU that fails in an NCCL sum is named, and no group stays open",
          "[day06][training][small]") {
    world = {};
    Three gpus;
    const std::string second = "GPU 1 of 0 to 2: ";
    SECTION("before the sum") {
        world.lost = 1;
        CHECK(failure([&] { gpus.add_up(); }).starts_with(second));
        CHECK(world.group.empty());
    }
    SECTION("as it is asked for") {
        world.rejects = 1;
        CHECK(failure([&] { gpus.add_up(); }) ==
              second + "ncclAllReduce failed: unhandled cuda error. its last words");
        CHECK(gpus.held[0].download() == std::vector<float>{1, 2, 7});
    }
    SECTION("while it adds up") {
        world.fails = 1;
        gpus.add_up();
        CHECK(contains(failure([&] { gpus.sum.wait(); }), second + "ncclAllReduce failed: "));
    }
    SECTION("while one waits for it") {
        gpus.add_up();
        world.lost = 1;
        CHECK(failure([&] { gpus.sum.wait(); }).starts_with(second));
    }
    CHECK(world.open_groups == 0);
}

TEST_CASE("GPUs that cannot all be initialized leave no communicator behind",
          "[day06][training][small]") {
    world = {};
    world.lost = 2;
    CHECK(contains(failure([] { NcclSum sum(3); }), "cudaSetDevice(gpu) failed"));
    CHECK(world.communicators == 0);
}

// The emulator reports unordered accesses of two streams to the same memory: each layer's
// gradients, their sums, and the step that reads them.
TEST_CASE("trainers and sums of their gradients wait for each other, and train as one trainer",
          "[day06][training][small]") {
    world = {};
    const gpt2::Config config{2, 3, 4, 2, 8, 5, 1e-5f};
    const Batch batch{{1, 4, 1, 0, 3, 3}, {4, 1, 2, 3, 3, 0}, std::vector<bool>(6, true)};
    const auto losses = [&](int gpus) {
        NcclSum sum(gpus);
        Trainers<Cuda> trainers(config, 2, sum);
        const std::vector<float> begin = trainers.parameters().begin(3);
        const std::vector<float> zeros(begin.size());
        trainers.load({0, begin, zeros, zeros});
        std::vector<double> all;
        for (int step = 0; step < 3; ++step) {
            all.push_back(trainers.accumulate(batch, 1, true));
            (void)trainers.step({.rate = 0.03});
        }
        return all;
    };
    const std::vector<double> one = losses(1), two = losses(2);
    CHECK(one[2] < one[0]);
    for (std::size_t i = 0; i < one.size(); ++i) CHECK(std::fabs(two[i] - one[i]) < 1e-4);
}

}  // namespace sixdays::day06_transformer_ops
