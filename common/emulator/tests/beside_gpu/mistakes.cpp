// Runs one planted bug of ../mistakes/ or ../../published, or a correct published algorithm, per
// process, since an error can make a GPU unusable for the rest of a process. Built as two programs:
//   emulator_mistakes        prints the reported kind and line, then the whole report
//   emulator_mistakes_cuda   prints the GPU's error; sanitizer.py runs it under compute-sanitizer
// Without an argument they list the names.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/published/published.hpp"
#include "common/emulator/tests/device.hpp"
#include "common/emulator/tests/mistakes.hpp"

#ifdef SIXDAYS_EMULATED
#include "common/emulator/report.hpp"
#endif

using namespace sixdays::emulator;
using namespace sixdays::emulator::tests;

namespace {

#ifdef SIXDAYS_EMULATED
void limit_time() {
    set_time_limit(2);
}

void tell(cudaError_t, bool) {
    const auto report = last_report();
    if (!report) {
        std::printf("nothing 0\n");
        return;
    }
    std::printf("%s %d\n%s\n", name(report->kind), report->line, report->text.c_str());
}
#else
// Exit normally, so that compute-sanitizer can print its report.
extern "C" void give_up(int) {
    const char text[] = "hangs\n";
    if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0) _exit(1);
    _exit(0);
}

void limit_time() {
    std::signal(SIGALRM, give_up);
    alarm(8);  // includes the tool's own time
}

void tell(cudaError_t error, bool right) {
    const char* said = right ? "no error" : "wrong values";
    std::printf("%s\n", error == cudaSuccess ? said : cudaGetErrorName(error));
}
#endif

void provoke(const Mistake& mistake) {
    const auto n = static_cast<std::size_t>(mistake.n);
    const Device<float> in(std::vector<float>(n, 1.0f)), out(n);
    if (mistake.out_written) cudaMemset(out.data(), 0, n * sizeof(float));
    cudaDeviceSynchronize();
    limit_time();
    launch(mistake, in.data(), out.data());
    const cudaError_t launched = cudaPeekAtLastError();
    const cudaError_t finished = cudaDeviceSynchronize();
    tell(launched != cudaSuccess ? launched : finished, true);
}

// Everything that can be run, by name.
std::vector<std::pair<std::string, std::function<void()>>> everything() {
    std::vector<std::pair<std::string, std::function<void()>>> all;
    for (const Mistake& mistake : mistakes()) {
        all.emplace_back(mistake.name, [&mistake] { provoke(mistake); });
    }
    for (const published::Algorithm& algorithm : published::algorithms()) {
        for (const int number : {0, 1, 2}) {
            const char* what =
                number == 0 ? "right" : algorithm.mistakes[static_cast<std::size_t>(number - 1)];
            all.emplace_back(std::string(algorithm.name) + "." + what, [&algorithm, number] {
                limit_time();
                const published::Outcome outcome = algorithm.run(number);
                tell(outcome.error, outcome.right);
            });
        }
    }
    return all;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string wanted = count == 2 ? arguments[1] : "";
    try {
        for (const auto& [name, run] : everything()) {
            if (wanted.empty()) {
                std::printf("%s\n", name.c_str());
            } else if (wanted == name) {
                run();
                return 0;
            }
        }
    } catch (const std::exception& error) {  // for example no device or no memory
        std::printf("%s\n", error.what());
        return 1;
    }
    if (!wanted.empty()) std::printf("no mistake is called %s\n", wanted.c_str());
    return wanted.empty() ? 0 : 2;
}
