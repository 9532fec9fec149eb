// Lost output of a lesson is reported, and only regular files are replaced by a picture.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include "common/gpu/different.hpp"
#include "common/lesson/arena.hpp"
#include "common/lesson/both.hpp"
#include "common/lesson/output.hpp"
#include "common/lesson/png.hpp"
#include "common/lesson/report.hpp"
#include "common/lesson/sampled.hpp"
#include "common/testing/testing.hpp"

using namespace sixdays;
using namespace sixdays::testing;
namespace fs = std::filesystem;

namespace {

// A temporary folder, removed after the test.
struct Folder {
    Folder() {
        std::string name = (fs::temp_directory_path() / "lesson_XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() { fs::remove_all(path); }
    std::string at(const std::string& name) const { return (path / name).string(); }
    fs::path path;
};

std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// What `call` prints to a standard stream, say STDERR_FILENO.
template <class Call>
std::string printed(int stream, const Call& call) {
    const Folder folder;
    const int kept = dup(stream), file = creat(folder.at("said").c_str(), 0600);
    dup2(file, stream);
    call();
    std::fflush(nullptr);
    dup2(kept, stream);
    close(kept);
    close(file);
    return content(folder.at("said"));
}

const std::uint8_t kPixels[] = {0, 50, 100, 150, 200, 255};

void write_picture(const std::string& path) {
    lesson::write_png(path, {kPixels, Shape{2, 3}});
}

std::string complaint(const std::string& path) {
    try {
        write_picture(path);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

// Was this program built with libpng? If not, only the error message can be tested.
bool writes_png() {
    const Folder folder;
    const std::string said = complaint(folder.at("x.png"));
    CHECK((said == "" || contains(said, "this program was built without libpng")));
    return said == "";
}

bool is_png(const std::string& bytes) {
    return bytes.rfind("\x89PNG\r\n", 0) == 0 && contains(bytes, "IEND");
}

}  // namespace

TEST_CASE("--only selects operations by the beginning of their names", "[lesson][small]") {
    const auto parsed = [](std::vector<std::string> words) {
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        int status = 0;
        return lesson::parse(static_cast<int>(argv.size()), argv.data(), "", {}, status);
    };
    const auto some = parsed({"day", "--bench", "--only", "matmul_bf16"});
    REQUIRE(some);
    CHECK(some->wants("matmul_bf16"));
    CHECK(some->wants("matmul_bf16, sizes"));
    CHECK(!some->wants("matmul"));
    CHECK(!some->wants("a matmul_bf16"));
    CHECK(parsed({"day", "--bench"})->wants("matmul"));
    CHECK(parsed({"day"})->wants("matmul"));
    const auto rejected = [&](const std::vector<std::string>& words) {
        return printed(STDERR_FILENO, [&] { CHECK(!parsed(words)); });
    };
    CHECK(contains(rejected({"day", "--only"}), "--only needs a value: --only WORD"));
    CHECK(contains(rejected({"day", "--only", "matmul"}), "--only requires --bench"));
}

TEST_CASE("output that was written is not reported", "[lesson][small]") {
    const Folder folder;
    std::FILE* file = std::fopen(folder.at("out").c_str(), "w");
    bool first = false, second = false;
    const std::string said = printed(STDERR_FILENO, [&] {
        first = lesson::output_written(file);
        std::fputs("a line", file);
        second = lesson::output_written(file);
    });
    CHECK(first);
    CHECK(second);
    CHECK(said == "");
    CHECK(content(folder.at("out")) == "a line");  // before it is closed
    std::fclose(file);
}

TEST_CASE("a full disk is reported, for buffered and for earlier writes", "[lesson][small]") {
    const std::string but = "Not everything that was printed arrived at its output: ";
    for (const int buffering : {_IOFBF, _IONBF}) {
        std::FILE* full = std::fopen("/dev/full", "w");
        REQUIRE(full != nullptr);
        std::setvbuf(full, nullptr, buffering, 1024);
        std::fputs("words", full);
        bool written = true;
        const std::string said =
            printed(STDERR_FILENO, [&] { written = lesson::output_written(full); });
        CHECK_FALSE(written);
        CHECK(said == but + (buffering == _IOFBF
                                 ? "No space left on device.\n"
                                 : "an earlier write failed (is the disk full?).\n"));
        std::fclose(full);
    }
}

TEST_CASE("closed output is reported, even if nothing was printed", "[lesson][small]") {
    for (const char* words : {"", "words"}) {
        bool written = true;
        const std::string said = printed(STDERR_FILENO, [&] {
            std::FILE* file = std::fopen("/dev/null", "w");
            close(fileno(file));
            std::fputs(words, file);
            written = lesson::output_written(file);
            std::fclose(file);
        });
        CHECK_FALSE(written);
        CHECK(said == "Not everything that was printed arrived at its output: it was closed.\n");
    }
}

TEST_CASE("a picture creates a file, or replaces an old one", "[lesson][png][small]") {
    if (!writes_png()) return;
    const Folder folder;
    write_picture(folder.at("x.png"));
    CHECK(is_png(content(folder.at("x.png"))));
    std::ofstream(folder.at("y.png"))
        << "older and longer than a picture of six pixels" << std::string(1000, '.');
    write_picture(folder.at("y.png"));
    CHECK(content(folder.at("y.png")) == content(folder.at("x.png")));
    CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 2);  // and no .part
}

TEST_CASE("symbolic links to pictures are followed, not replaced", "[lesson][png][small]") {
    if (!writes_png()) return;
    const Folder folder;
    fs::create_directory(folder.at("deep"));
    for (const char* target : {"deep/there.png", "deep/missing.png"}) {
        const std::string link = folder.at("link"), second = folder.at("deep/second");
        fs::create_symlink(fs::path(target).filename(), second);  // relative to its own folder
        fs::create_symlink("deep/second", link);
        if (contains(target, "there")) std::ofstream(folder.at(target)) << "old";
        write_picture(link);
        CHECK(fs::is_symlink(link));
        CHECK(fs::is_symlink(second));
        CHECK(is_png(content(folder.at(target))));
        fs::remove(link);
        fs::remove(second);
    }
    CHECK(std::distance(fs::directory_iterator(folder.at("deep")), {}) == 2);
}

TEST_CASE("a device or a pipe is written to and never replaced", "[lesson][png][small]") {
    if (!writes_png()) return;
    const Folder folder;
    const std::string pipe = folder.at("pipe"), link = folder.at("link");
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    fs::create_symlink("pipe", link);
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    write_picture(link);
    REQUIRE(fs::is_fifo(pipe));  // stop here, before a device is tried
    REQUIRE(fs::is_symlink(link));
    char bytes[1000];
    const ssize_t n = read(reader, bytes, sizeof bytes);
    close(reader);
    REQUIRE(n > 0);
    CHECK(is_png(std::string(bytes, static_cast<std::size_t>(n))));

    const std::string full = folder.at("full");
    fs::create_symlink("/dev/full", full);
    CHECK(complaint(full) ==
          "the picture could not be written to " + full + ": No space left on device");
    CHECK(fs::is_character_file(full));

    CHECK(contains(complaint(folder.path.string()), "Is a directory"));
    CHECK(contains(complaint(folder.at("no/x.png")), "No such file"));
    CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 3);
}

TEST_CASE("a picture to standard output keeps its place in the output", "[lesson][png][small]") {
    if (!writes_png()) return;
    const auto said = printed(STDOUT_FILENO, [] {
        std::printf("before,");
        write_picture("/dev/stdout");
        std::printf(",after");
    });
    CHECK(said.rfind("before,\x89PNG", 0) == 0);
    CHECK(contains(said, "IEND"));
    CHECK(said.substr(said.size() - 6) == ",after");
}

TEST_CASE("sampled checks the first, the last and other elements of a result", "[lesson][small]") {
    const Shape shape{30, 40};
    Tensor<float> x(shape);
    for (std::int64_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<float>(k);
    gpu::Buffer<float> device(x);
    const View<float> out = device.view(shape);
    const auto number = [](const Index& at) { return static_cast<float>(at[0] * 40 + at[1]); };
    CHECK(lesson::sampled(out, number) == "");
    CHECK(lesson::sampled(View<const float>(nullptr, Shape{0, 4}), number) == "");
    const auto near = [&](double bound) {
        return [number, bound](const Index& at) {
            return lesson::Near{static_cast<double>(number(at)) + 0.25, bound};
        };
    };
    CHECK(lesson::sampled(out, near(0.25)) == "");
    CHECK(
        lesson::sampled(out, near(0.2)) ==
        "at (0, 0) a timed run wrote 0.000000, but it must be 0.250000, at most 0.200000 from it");
    std::set<std::int64_t> asked;
    for (int sample = 0; sample < lesson::kSamples; ++sample) {
        const std::int64_t k = lesson::sample_of(1000003, sample);
        CHECK((0 <= k && k < 1000003));
        asked.insert(k);
    }
    CHECK(asked.size() == lesson::kSamples);
    CHECK(asked.count(1000002) == 1);
    CHECK(lesson::sample_of(1, 63) == 0);
    const float wrong = NAN;
    device.upload(&wrong, 1, 1199);
    CHECK(lesson::sampled(out, number) ==
          "at (29, 39) a timed run wrote nan, but it must be 1199.000000");
}

TEST_CASE("gathered returns the elements of any part of an arena's input", "[lesson][small]") {
    lesson::Arena arena({100, 4000}, 8);
    const float part[] = {1, 2, 3, 4, 5};
    arena.fill(1, part, sizeof part);
    const Tensor<float> corner = arena.gathered<float>(1, {Layout({2, 3}, {100, 2}), 4});
    CHECK(corner.shape() == Shape{2, 3});
    for (std::int64_t i = 0; i < 2; ++i) {
        for (std::int64_t j = 0; j < 3; ++j) {
            const std::int64_t element = 4 + 100 * i + 2 * j;
            CHECK(corner(i, j) == part[element % 5]);
            float there = 0;
            gpu::detail::copy_to_host(&there, arena.input<float>(0, 1) + element, sizeof there);
            CHECK(there == corner(i, j));
        }
    }
}

TEST_CASE("a wrong result that is the same in every run ends the run", "[lesson][small]") {
    float out = 0, want = 0;
    lesson::Version v;
    v.op = "op";
    v.version = "fast";
    // The same result in every run, and `want` comes from the same wrong version.
    v.check = {[&](int) { out = want = 7; }, {{&out, &want, sizeof out}}};
    lesson::Options options;
    options.timing = true;
    std::string ended;
    const std::string said = printed(STDOUT_FILENO, [&] {
        lesson::Report report("a day", "what it shows", options);
        report.loop(v);
        v.check.sampled = [] {
            return std::string("at (0) a timed run wrote 7, but it must be 8");
        };
        try {
            report.loop(v);
        } catch (const std::runtime_error& error) {
            ended = error.what();
        }
    });
    CHECK(contains(said, "op      fast"));
    CHECK(ended == "op, fast: at (0) a timed run wrote 7, but it must be 8");
}

TEST_CASE("Both holds the same bytes on host and device, gaps included", "[lesson][small]") {
    const Layout backwards({2, 3}, {-4, 1});  // of 7 elements
    lesson::Both<float> in(backwards, [](std::int64_t i) { return 10 * i; });
    CHECK(in.host()(0, 0) == 40);
    CHECK(in.host()(1, 2) == 20);
    CHECK(in.written() == std::vector<float>{0, 10, 20, 30, 40, 50, 60});
    CHECK(in.same());
    lesson::Both<float> out(backwards);
    CHECK(out.same());  // both poisoned
    const float one = 1;
    out.host()(1, 1) = one;
    CHECK_FALSE(out.same());
    gpu::detail::copy_to_device(&out.device()(1, 1), &one, sizeof one);
    CHECK(out.same());
    const lesson::Outcome outcome = out.outcome();
    CHECK(outcome.bytes == 28);
    CHECK(gpu::count_different(outcome.out, outcome.want, outcome.bytes) == 0);
    gpu::detail::copy_to_device(&out.device()(0, 0) - 1, &one, sizeof one);  // in the gap
    CHECK_FALSE(out.same());
    CHECK(gpu::count_different(outcome.out, outcome.want, outcome.bytes) == 4);
    lesson::Both<float> none(Layout({0, 3}, {3, 1}), [](std::int64_t) { return 0; });
    CHECK(none.same());
}
