// One thread calls NCCL for all GPUs: the calls must be between ncclGroupStart() and
// ncclGroupEnd(), or the first one would wait for the others.
#include "day06_transformer_ops/training/model/nccl_sum.hpp"

#include <chrono>
#include <map>
#include <thread>

#include "common/gpu/check.hpp"
#include "common/gpu/device.hpp"
#include "common/tensor/arguments.hpp"

#ifdef SIXDAYS_NCCL
#include <nccl.h>
#endif

namespace sixdays::day06_transformer_ops {

namespace {

[[noreturn]] void reject_gpus(std::int64_t gpus, const std::string& why) {
    reject(gpus, " GPUs were requested, but ", why);
}

}  // namespace

#ifdef SIXDAYS_NCCL

namespace {

void check(ncclResult_t code, const char* call) {
    if (code == ncclSuccess) return;
    throw std::runtime_error(std::string(call) + " failed: " + ncclGetErrorString(code) + ". " +
                             ncclGetLastError(nullptr));
}

}  // namespace

struct NcclSum::Gpus {
    struct One {
        ncclComm_t comm = nullptr;
        cudaStream_t stream = nullptr;
        std::map<std::int64_t, cudaEvent_t> marks = {};
    };
    std::vector<One> each;

    // Also runs if NcclSum's constructor fails halfway.
    ~Gpus() {
        for (One& one : each) {
            (void)ncclCommDestroy(one.comm);
            for (const auto& mark : one.marks) (void)cudaEventDestroy(mark.second);
            if (one.stream != nullptr) (void)cudaStreamDestroy(one.stream);
        }
    }
};

NcclSum::NcclSum(std::int64_t gpus) : gpus_(static_cast<int>(gpus)) {
    if (gpus == 1) return;
    int there = 0;
    SIXDAYS_CUDA(cudaGetDeviceCount(&there));
    if (gpus > there) reject_gpus(gpus, "this machine has " + std::to_string(there));
    std::vector<ncclComm_t> comms(static_cast<std::size_t>(gpus));
    check(ncclCommInitAll(comms.data(), gpus_, nullptr), "ncclCommInitAll");
    all_ = std::make_unique<Gpus>();
    for (ncclComm_t comm : comms) all_->each.push_back({comm});
    for (int gpu = 0; gpu < gpus_; ++gpu) {
        use(gpu);
        // Non-blocking: otherwise it would wait for the default stream, which computes meanwhile.
        SIXDAYS_CUDA(cudaStreamCreateWithFlags(&all_->each[static_cast<std::size_t>(gpu)].stream,
                                               cudaStreamNonBlocking));
    }
}

void NcclSum::use(int gpu) {
    if (gpus_ > 1) SIXDAYS_CUDA(cudaSetDevice(gpu));
}

void NcclSum::mark(int gpu, std::int64_t mark) {
    if (gpus_ == 1) return;
    cudaEvent_t& event = all_->each[static_cast<std::size_t>(gpu)].marks[mark];
    if (event == nullptr) SIXDAYS_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    SIXDAYS_CUDA(cudaEventRecord(event));
}

void NcclSum::add_up(std::int64_t mark, const std::vector<float*>& runs, std::int64_t size) {
    for (int gpu = 0; gpu < gpus_; ++gpu) {
        const Gpus::One& one = all_->each[static_cast<std::size_t>(gpu)];
        named(gpu, gpus_, [&] {
            use(gpu);
            SIXDAYS_CUDA(cudaStreamWaitEvent(one.stream, one.marks.at(mark)));
        });
    }
    // Do not throw before the end of the group, or it would stay open.
    check(ncclGroupStart(), "ncclGroupStart");
    std::vector<ncclResult_t> said;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const Gpus::One& one = all_->each[i];
        said.push_back(ncclAllReduce(runs[i], runs[i], static_cast<std::size_t>(size), ncclFloat,
                                     ncclSum, one.comm, one.stream));
    }
    const ncclResult_t end = ncclGroupEnd();
    for (int gpu = 0; gpu < gpus_; ++gpu) {
        named(gpu, gpus_, [&] { check(said[static_cast<std::size_t>(gpu)], "ncclAllReduce"); });
    }
    check(end, "ncclGroupEnd");
}

// A GPU that has failed never reaches the sum, and the others wait for it forever. So this polls
// all of them in turn, instead of waiting for the first.
void NcclSum::wait() {
    for (int waiting = gpus_; waiting > 0;) {
        waiting = 0;
        for (int gpu = 0; gpu < gpus_; ++gpu) {
            const Gpus::One& one = all_->each[static_cast<std::size_t>(gpu)];
            named(gpu, gpus_, [&] {
                use(gpu);
                ncclResult_t state = ncclSuccess;
                check(ncclCommGetAsyncError(one.comm, &state), "ncclCommGetAsyncError");
                check(state, "ncclAllReduce");
                const cudaError_t code = cudaStreamQuery(one.stream);
                if (code != cudaErrorNotReady) return SIXDAYS_CUDA(code);
                (void)cudaGetLastError();  // cudaErrorNotReady is not a failure: clear it
                ++waiting;
            });
        }
        if (waiting > 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

#else

struct NcclSum::Gpus {};

NcclSum::NcclSum(std::int64_t gpus) : gpus_(static_cast<int>(gpus)) {
    if (gpus == 1) return;
    reject_gpus(gpus, gpu::is_emulated()
                          ? "the emulator is one"
                          : "this program was built without NCCL, which sums the gradients: "
                            "docs/training_runs.md says how to get it");
}
void NcclSum::use(int) {}
void NcclSum::mark(int, std::int64_t) {}
void NcclSum::add_up(std::int64_t, const std::vector<float*>&, std::int64_t) {}
void NcclSum::wait() {}

#endif

NcclSum::~NcclSum() = default;

}  // namespace sixdays::day06_transformer_ops
