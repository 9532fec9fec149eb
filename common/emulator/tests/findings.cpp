// Every line of the emulator that reports a finding is covered here, and findings.txt contains the
// whole report: kind, error, kernel, block, thread, and text. Source positions are stored as the
// text of the line, so that a wrong line is detected and a moved one is not.
//
// After a change, SIXDAYS_WRITE_FINDINGS=findings.txt emulator_tests "[findings]" rewrites the
// file; its diff shows every changed report.
#include "common/emulator/tests/findings.hpp"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "common/emulator/report.hpp"
#include "common/emulator/tests/clusters.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/host.hpp"
#include "common/emulator/tests/mistakes.hpp"
#include "common/emulator/tests/own_lines.hpp"
#include "common/testing/catch.hpp"

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

struct Work {
    std::string name;
    std::function<void(float* x)> work;
};

std::string folder() {
    const std::string here = __FILE__;
    return here.substr(0, here.rfind("tests/"));  // common/emulator/
}

std::string text_of_line(const std::string& file, int number) {
    std::ifstream in(file);
    std::string line;
    for (int i = 0; i < number; ++i) std::getline(in, line);
    line = line.substr(0, line.find("  // MARK"));
    line.erase(0, line.find_first_not_of(' '));
    line.erase(line.find_last_not_of(' ') + 1);
    return "<" + line + ">";
}

// The report with "common/emulator/tests/findings.cu:12" replaced by that line's text.
std::string with_text_of_lines(const std::string& report) {
    static const std::regex place(R"(\S*common/emulator/([\w/.]+):(\d+)(, called from line \d+)?)");
    std::string text;
    std::size_t done = 0;
    for (std::sregex_iterator at(report.begin(), report.end(), place), end; at != end; ++at) {
        text += report.substr(done, static_cast<std::size_t>(at->position()) - done);
        done = static_cast<std::size_t>(at->position() + at->length());
        const std::string file = folder() + (*at)[1].str(), caller = (*at)[3].str();
        text += text_of_line(file, std::stoi((*at)[2].str()));
        if (caller.empty()) continue;
        text += " called from " + text_of_line(file, std::stoi(caller.substr(caller.rfind(' '))));
    }
    return text + report.substr(done);
}

std::string triple(const std::array<std::uint32_t, 3>& v) {
    return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) +
           ")";
}

// The complete report of this work.
std::string story_of(const Work& one) {
    cudaDeviceSynchronize();
    cudaGetLastError();
    clear_report();
    remarks();
    {
        const Device<float> x(std::vector<float>(64, 1.0f));
        one.work(x.data());
        cudaDeviceSynchronize();
    }
    std::string story;
    if (const auto report = last_report()) {
        story = std::string(name(report->kind)) + ", error " +
                std::to_string(static_cast<int>(cudaGetLastError())) + ", kernel " +
                report->kernel + ", block " + triple(report->block) + ", thread " +
                triple(report->thread) + (report->address == 0 ? "" : ", an address") + "\n" +
                with_text_of_lines(report->text) + "\n";
        CHECK(report->text.find(report->file + ":" + std::to_string(report->line)) !=
              (report->line == 0 ? 0 : std::string::npos));
    }
    for (const std::string& one_remark : remarks()) {
        story += "remark: " + with_text_of_lines(one_remark) + "\n";
    }
    cudaGetLastError();
    clear_report();
    return story;
}

std::map<std::string, std::string> stories_on_file() {
    std::map<std::string, std::string> all;
    std::ifstream in(folder() + "tests/findings.txt");
    std::string name;
    for (std::string line; std::getline(in, line);) {
        if (line.rfind("== ", 0) == 0) {
            name = line.substr(3);
            all[name];
        } else if (!name.empty() && !line.empty()) {
            all[name] += line + "\n";
        }
    }
    return all;
}

float host_of_64[64];
std::size_t bytes_of_host(const void* pointer) {
    const auto at =
        reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(host_of_64);
    return at < sizeof(host_of_64) ? sizeof(host_of_64) - at : 0;
}

// 64 floats of managed memory.
class Managed {
public:
    Managed() {
        cudaMallocManaged(reinterpret_cast<void**>(&data_), 256, cudaMemAttachGlobal);
        std::fill_n(data_, 64, 1.0f);
    }
    ~Managed() { cudaFree(data_); }
    Managed(const Managed&) = delete;
    Managed& operator=(const Managed&) = delete;
    volatile float* data() const { return data_; }

private:
    float* data_ = nullptr;
};
void add_one(const volatile float* in, volatile float* out, cudaStream_t stream) {
    tests::add_one(const_cast<const float*>(in), const_cast<float*>(out), stream);
}

// Runtime calls, and accesses of the host to device memory.
const std::vector<Work> kCalls = {
    {"index_below_0", [](float* x) { store_before(3, x); }},
    {"stride_below_0", [](float* x) { store_before(1, x + 10); }},
    {"index_far_below_0",
     [](float*) {
         const Device<float> y(std::vector<float>(1000, 1.0f));
         store_before(2000, y.data() + 500);
     }},
    {"variable_too_small",
     [](float* x) { cudaMemcpy(address_of_variable() + 1, x, 16, cudaMemcpyDeviceToDevice); }},
    {"from_variable_too_small",
     [](float* x) { cudaMemcpy(x, address_of_variable() + 3, 8, cudaMemcpyDeviceToDevice); }},
    {"host_as_target",
     [](float*) { cudaMemcpy(host_of_64, host_of_64, 8, cudaMemcpyHostToDevice); }},
    {"host_as_source", [](float* x) { cudaMemcpy(x, host_of_64, 8, cudaMemcpyDeviceToDevice); }},
    {"set_host", [](float*) { cudaMemset(host_of_64, 0, 12); }},
    {"set_null", [](float*) { cudaMemset(nullptr, 0, 12); }},
    {"device_as_target", [](float* x) { cudaMemcpy(x, x + 4, 8, cudaMemcpyDeviceToHost); }},
    {"device_as_source", [](float* x) { cudaMemcpy(x, x + 4, 8, cudaMemcpyHostToDevice); }},
    {"copy_ends_beyond",
     [](float* x) { cudaMemcpy(host_of_64, x + 60, 20, cudaMemcpyDeviceToHost); }},
    {"copy_starts_beyond",
     [](float* x) { cudaMemcpy(x + 66, host_of_64, 20, cudaMemcpyHostToDevice); }},
    {"copy_to_freed",
     [](float*) {
         void* gone = nullptr;
         cudaMalloc(&gone, 100);
         cudaFree(gone);
         cudaMemcpy(gone, host_of_64, 20, cudaMemcpyHostToDevice);
     }},
    {"pinned_too_small",
     [](float* x) {
         void* pinned = nullptr;
         cudaMallocHost(&pinned, 60);
         cudaMemcpyAsync(static_cast<char*>(pinned) + 4, x, 60, cudaMemcpyDeviceToHost);
         cudaFreeHost(pinned);
     }},
    {"host_too_small",
     [](float* x) {
         know_host_buffers(bytes_of_host);
         cudaMemcpy(x, host_of_64 + 60, 20, cudaMemcpyHostToDevice);
         know_host_buffers(nullptr);
     }},
    {"host_large_enough",
     [](float* x) {
         know_host_buffers(bytes_of_host);
         cudaMemcpy(x, host_of_64 + 60, 16, cudaMemcpyHostToDevice);
         cudaMemcpy(host_of_64 + 60, x, 16, cudaMemcpyDeviceToHost);
         know_host_buffers(nullptr);
     }},
    {"host_too_small_for_copy_back",
     [](float* x) {
         know_host_buffers(bytes_of_host);
         cudaMemcpy(host_of_64 + 62, x, 12, cudaMemcpyDeviceToHost);
         know_host_buffers(nullptr);
     }},
    {"unwritten_to_host",
     [](float*) {
         const Device<float> y(16);
         cudaMemcpy(host_of_64, y.data() + 1, 12, cudaMemcpyDeviceToHost);
     }},
    {"partly_written_words",
     [](float*) {
         const Device<float> y(16);
         cudaMemset(y.data(), 0, 20);
         cudaMemset(y.data() + 8, 0, 4);
         cudaMemcpy(host_of_64, y.data() + 2, 40, cudaMemcpyDeviceToHost);
     }},
    {"partly_written_bytes",
     [](float*) {
         const Device<char> y(16);
         cudaMemset(y.data(), 0, 7);
         cudaMemcpy(host_of_64, y.data(), 11, cudaMemcpyDeviceToHost);
     }},
    {"partly_written_rows",
     [](float*) {
         const Device<char> y(64);
         cudaMemset(y.data(), 0, 33);
         cudaMemcpy2D(host_of_64, 4, y.data(), 16, 4, 4, cudaMemcpyDeviceToHost);
     }},
    {"remarks_of_two_lines",
     [](float*) {
         const Device<float> y(16);
         cudaMemset(y.data(), 0, 20);
         for (int i = 0; i < 2; ++i) {
             cudaMemcpy(host_of_64, y.data() + 1, 24, cudaMemcpyDeviceToHost);
             cudaMemcpy(host_of_64, y.data() + 2, 28, cudaMemcpyDeviceToHost);
         }
     }},
    {"free_twice",
     [](float*) {
         void* gone = nullptr;
         cudaMalloc(&gone, 100);
         cudaFree(gone);
         cudaFree(gone);
     }},
    {"free_the_middle", [](float* x) { cudaFree(x + 1); }},
    {"free_host", [](float*) { cudaFree(host_of_64); }},
    {"free_async_twice",
     [](float*) {
         void* gone = nullptr;
         cudaMallocAsync(&gone, 100, nullptr);
         cudaFreeAsync(gone, nullptr);
         cudaFreeAsync(gone, nullptr);
     }},
    {"free_host_of_device", [](float* x) { cudaFreeHost(x); }},
    {"host_reads_device",
     [](float* x) {
         volatile const float* p = x;
         host_of_64[0] = p[9];
     }},
    {"host_writes_device",
     [](float* x) {
         volatile float* p = x;
         p[10] = 1.0f;
     }},
    {"host_reads_in_flight",
     [](float* x) {
         float* pinned = nullptr;
         cudaMallocHost(reinterpret_cast<void**>(&pinned), 256);
         cudaMemcpyAsync(pinned, x, 256, cudaMemcpyDeviceToHost, nullptr);
         host_of_64[0] = pinned[7];
         cudaFreeHost(pinned);
     }},
    {"host_writes_in_flight",
     [](float* x) {
         float* pinned = nullptr;
         cudaMallocHost(reinterpret_cast<void**>(&pinned), 256);
         pinned[3] = 4.0f;
         cudaMemcpyAsync(x, pinned, 256, cudaMemcpyHostToDevice, nullptr);
         pinned[3] = 5.0f;
         cudaFreeHost(pinned);
     }},
    {"host_reads_managed",
     [](float* x) {
         const Managed y;
         cudaDeviceSynchronize();
         add_one(x, y.data() + 40, nullptr);
         host_of_64[0] = y.data()[41];  // another word of the same page
         add_one(x, y.data() + 40, nullptr);
         host_of_64[0] = y.data()[40];
     }},
    {"host_writes_managed",
     [](float* x) {
         const Managed y;
         add_one(y.data() + 3, x, nullptr);
         y.data()[3] = 2.0f;
     }},
    {"host_waits_for_another_stream",
     [](float* x) {
         const Managed y;
         cudaStream_t a = nullptr, b = nullptr;
         cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
         cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
         add_one(x, y.data() + 1, a);
         add_one(x, y.data() + 2, b);
         cudaStreamSynchronize(b);
         host_of_64[0] = y.data()[2];
         add_one(x, y.data() + 2, b);
         host_of_64[0] = y.data()[1];
         cudaStreamDestroy(a);
         cudaStreamDestroy(b);
     }},
    {"copy_beside_stream",
     [](float* x) {
         cudaStream_t a = nullptr;
         cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
         add_one(x, x + 7, a);
         cudaMemcpy(host_of_64, x + 5, 32, cudaMemcpyDeviceToHost);
         cudaStreamDestroy(a);
     }},
    {"stream_destroyed",
     [](float* x) {
         cudaStream_t a = nullptr;
         cudaStreamCreate(&a);
         cudaStreamDestroy(a);
         add_one(x, x + 7, a);
     }},
    {"library_reads_unwritten",
     [](float* x) {
         const Device<float> y(64);
         cudaMemset(y.data(), 0, 108);
         cublasHandle_t handle = nullptr;
         cublasCreate(&handle);
         const float one = 1.0f;
         cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, y.data(), 8, x, 4, &one, x,
                     4);
         cublasDestroy(handle);
     }},
    {"streams_race_by_kernels",
     [](float* x) {
         cudaStream_t a = nullptr, b = nullptr;
         cudaStreamCreate(&a);
         cudaStreamCreate(&b);
         add_one(x, x + 7, a);
         add_one(x, x + 7, b);
         cudaStreamDestroy(a);
         cudaStreamDestroy(b);
     }},
    {"streams_race_by_copy",
     [](float* x) {
         cudaStream_t a = nullptr, b = nullptr;
         cudaStreamCreate(&a);
         cudaStreamCreate(&b);
         add_one(x, x + 7, a);
         cudaMemcpyAsync(x + 5, x + 20, 32, cudaMemcpyDeviceToDevice, b);
         cudaStreamDestroy(a);
         cudaStreamDestroy(b);
     }},
    {"streams_race_with_third_reader",
     [](float* x) {
         cudaStream_t streams[4];
         for (cudaStream_t& one : streams) cudaStreamCreate(&one);
         cudaEvent_t event = nullptr;
         cudaEventCreate(&event);
         for (int i = 0; i < 3; ++i) add_one(x, x + 10 + i, streams[i]);
         for (int i = 1; i < 3; ++i) {
             cudaEventRecord(event, streams[i]);
             cudaStreamWaitEvent(streams[3], event);
         }
         cudaMemsetAsync(x, 0, 16, streams[3]);
         for (const cudaStream_t one : streams) cudaStreamDestroy(one);
         cudaEventDestroy(event);
     }},
    {"streams_race_in_bytes",
     [](float* x) {
         cudaStream_t a = nullptr, b = nullptr;
         cudaStreamCreate(&a);
         cudaStreamCreate(&b);
         auto* const bytes = reinterpret_cast<unsigned char*>(x);
         add_one_byte(bytes, bytes + 9, a);
         cudaMemsetAsync(bytes + 5, 0, 5, b);
         cudaStreamDestroy(a);
         cudaStreamDestroy(b);
     }},
};

std::vector<Work> all_work() {
    std::vector<Work> all;
    for (const Provoked& one : provoked_by_kernels()) all.push_back({one.name, one.work});
    for (const Work& one : kCalls) all.push_back(one);
    for (const ClusterCase& one : clusters()) {
        const std::string name = one.name;
        if (name.rfind("endless", 0) == 0 || name == "many_threads") continue;  // slow
        if (name.rfind("half_along", 0) == 0) continue;                         // as half_a_cluster
        all.push_back({std::string("cluster_") + one.name, [launch = one.launch](float*) {
                           const Device<int> out(std::vector<int>(64, -1));
                           launch(out.data());
                       }});
    }
    for (const Mistake& one : mistakes()) {
        const std::string name = one.name;
        // Not deterministic: which thread is stopped, and where the compiler puts two arrays.
        if (name.rfind("endless", 0) == 0 || name == "next_shared_array") continue;
        all.push_back({"mistake_" + name, [one](float*) {
                           const auto n = static_cast<std::size_t>(one.n);
                           const Device<float> in(std::vector<float>(n, 1.0f)), out(n);
                           if (one.out_written) cudaMemset(out.data(), 0, n * sizeof(float));
                           launch(one, in.data(), out.data());
                       }});
    }
    return all;
}

}  // namespace

TEST_CASE("the report of every bug equals findings.txt, and every check makes one", "[findings]") {
    const auto on_file = stories_on_file();
    std::map<std::string, std::string> told;
    std::string written;
    own_lines_that_reported();
    for (const Work& one : all_work()) {
        INFO(one.name);
        const std::string story = story_of(one);
        CHECK(told.emplace(one.name, story).second);
        written += "== " + one.name + "\n" + story + "\n";
        const auto expected = on_file.find(one.name);
        CHECK(story == (expected == on_file.end() ? "not on file" : expected->second));
    }
    CHECK(on_file.size() == told.size());
    if (const char* const path = std::getenv("SIXDAYS_WRITE_FINDINGS")) {
        std::ofstream(path) << written;
    }
    const std::set<std::string> seen = own_lines_that_reported();
    std::vector<std::string> files;
    for (const char* part : {"machine/", "memory/", "checks/", "report/", "api/", "libraries/"}) {
        for (const auto& entry : std::filesystem::directory_iterator(folder() + part)) {
            if (entry.path().extension() == ".cpp")
                files.push_back(part + entry.path().filename().string());
        }
    }
    std::sort(files.begin(), files.end());
    for (const std::string& line : lines_without_report(folder(), files, seen)) {
        // Which thread is stopped, and where, varies: mistakes.cpp and clusters.cpp test that.
        if (line.find("fail(TimeIsUp{") != std::string::npos) continue;
        INFO("no report above was made by " << line);
        CHECK(line.empty());
    }
}

TEST_CASE("code that is just within the rules is not reported") {
    for (const Provoked& one : right_kernels()) {
        INFO(one.name);
        CHECK(story_of({one.name, one.work}).empty());
    }
}
