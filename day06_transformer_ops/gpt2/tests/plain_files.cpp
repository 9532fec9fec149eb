// Files named by a user: reading, writing, and locks between writers.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/cpu/host_backend.hpp"
#include "day06_transformer_ops/gpt2/file/checksum.hpp"
#include "day06_transformer_ops/gpt2/file/gguf_writer.hpp"
#include "day06_transformer_ops/gpt2/file/mapped_file.hpp"
#include "day06_transformer_ops/gpt2/file/memory.hpp"
#include "day06_transformer_ops/gpt2/file/output_file.hpp"
#include "day06_transformer_ops/gpt2/file/plain_file.hpp"
#include "day06_transformer_ops/gpt2/random_model.hpp"
#include "day06_transformer_ops/gpt2/tests/temporary.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace sixdays::testing;
namespace fs = std::filesystem;

namespace {

void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

std::string told(const std::function<void()>& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

// The number of files that this process has open.
std::ptrdiff_t open_files() {
    const fs::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
}

const std::vector<std::byte> kThree = {std::byte{1}, std::byte{2}, std::byte{3}};

// Files of every other kind: path and kind.
std::vector<std::pair<std::string, std::string>> odd_files(const Temporary& folder) {
    const std::string pipe = folder / "pipe", directory = folder / "directory",
                      socket = folder / "socket";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    fs::create_directory(directory);
    const int endpoint = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    REQUIRE(socket.size() < sizeof address.sun_path);
    std::strcpy(address.sun_path, socket.c_str());
    REQUIRE(bind(endpoint, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    close(endpoint);
    std::vector<std::pair<std::string, std::string>> all = {
        {pipe, "a pipe"}, {directory, "a directory"}, {socket, "a socket"}};
    const std::string device = folder / "device";  // only root may create one
    if (mknod(device.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0) {
        all.emplace_back(device, "a device");
    }
    return all;
}

}  // namespace

TEST_CASE("files: only a plain one is read, without waiting, to its end", "[day06][files][small]") {
    const Temporary folder;
    for (const auto& [path, kind] : odd_files(folder)) {
        CAPTURE(path);
        const std::string wanted = path + " is " + kind + ", but must be a plain file";
        CHECK(told([&, &path = path] { (void)contents_of(path); }) == wanted);
        CHECK(told([&, &path = path] { const MappedFile file(path); }) == wanted);
        const std::string link = folder / "link";
        fs::create_symlink(path, link);
        CHECK(contains(told([&] { (void)contents_of(link); }), "link is " + kind));
        fs::remove(link);
    }
    for (const char* endless : {"/dev/zero", "/dev/null"}) {
        CHECK(told([&] { (void)contents_of(endless); }) ==
              std::string(endless) + " is a device, but must be a plain file");
    }
    CHECK(contains(told([&] { (void)contents_of(folder / "none"); }),
                   "none cannot be opened: No such file"));
    const std::string text = folder / "text";
    put(text, std::string("a\0b", 3));
    CHECK(contents_of(text) == std::string("a\0b", 3));
    CHECK(contents_of(text, 3).size() == 3);
    CHECK(contains(told([&] { (void)contents_of(text, 2); }),
                   "text has 3 bytes or more; at most 2 are read"));
    put(text, "");
    CHECK(contents_of(text).empty());
    CHECK(MappedFile(text).bytes().empty());
    fs::create_symlink(text, folder / "link");
    put(text, "through a link");
    CHECK(contents_of(folder / "link") == "through a link");
    // A sparse file is rejected without being read.
    put(folder / "sparse", "");
    fs::resize_file(folder / "sparse", 3'000'000);
    CHECK(contains(told([&] { (void)contents_of(folder / "sparse", 2'999'999); }),
                   "has 3000000 bytes or more; at most 2999999"));
    CHECK(contents_of(folder / "sparse", 3'000'000).size() == 3'000'000);
    std::ostringstream version;  // a file that reports 0 bytes, so it is read in pieces
    version << std::ifstream("/proc/version").rdbuf();
    CHECK(version.str().size() > 20);
    CHECK(contents_of("/proc/version") == version.str());
    CHECK(contains(told([] { (void)contents_of("/proc/version", 20); }), "at most 20 are read"));
}

TEST_CASE("files: only a plain file is replaced, also at its .new", "[day06][files][small]") {
    const Temporary folder;
    for (const auto& [odd, kind] : odd_files(folder)) {
        for (const char* end : {"", ".new"}) {
            const std::string out = folder / "out", path = out + end;
            fs::rename(odd, path);
            CAPTURE(path, kind);
            const std::string wanted = path + " is " + kind + ", which writing would replace";
            CHECK(contains(told([&] { write_whole(out, kThree); }), wanted));
            CHECK(contains(told([&] { check_output(out); }), wanted));
            if (path == out) CHECK(contains(told([&] { const OutputLock lock(out); }), wanted));
            CHECK_FALSE(fs::exists(out + ".lock"));
            CHECK_FALSE(fs::is_regular_file(path));
            fs::rename(path, odd);
        }
    }
    // A link is neither replaced nor followed.
    put(folder / "text", "mine");
    for (const char* target : {"text", "nothing"}) {
        fs::create_symlink(target, folder / "out");
        CHECK(
            contains(told([&] { write_whole(folder / "out", kThree); }), "out is a symbolic link"));
        CHECK(fs::is_symlink(folder / "out"));
        fs::rename(folder / "out", folder / "out.new");
        CHECK(contains(told([&] { write_whole(folder / "out", kThree); }),
                       "out.new is a symbolic link"));
        fs::remove(folder / "out.new");
    }
    CHECK(contents_of(folder / "text") == "mine");
    // A half-written file left by a killed run does not matter.
    put(folder / "out.new", "half");
    write_whole(folder / "out", kThree);
    CHECK(fs::file_size(folder / "out") == 3);
    CHECK_FALSE(fs::exists(folder / "out.new"));
}

TEST_CASE("files: an unwritable output is reported in advance", "[day06][files][small]") {
    const Temporary folder;
    const auto before = open_files();
    check_output(folder / "out", 1000);
    CHECK(fs::is_empty(folder.name));
    CHECK(open_files() == before);
    CHECK(contains(told([&] { check_output(folder / "none/out"); }),
                   "none/out.new cannot be written: No such file"));
    put(folder / "text", "no folder");
    CHECK(contains(told([&] { check_output(folder / "text/out"); }), "Not a directory"));
    std::signal(SIGXFSZ, SIG_IGN);  // exceeding a file size limit is an ordinary error
    // More than any disk has; without support for reservation, there is no error.
    const std::string said = told([&] { check_output(folder / "out", INT64_MAX / 2); });
    CHECK((said.empty() || contains(said, "bytes cannot be written: ")));
    CHECK_FALSE(fs::exists(folder / "out.new"));
    if (geteuid() == 0) return;  // root may write anywhere
    put(folder / "out", "old");
    fs::permissions(folder / "out", fs::perms::owner_read);
    CHECK(contains(told([&] { check_output(folder / "out"); }), "out cannot be written"));
}

TEST_CASE("files: an output has one writer, and a lock ends with its holder's process",
          "[day06][files][small]") {
    const Temporary folder;
    const std::string out = folder / "out";
    put(out + ".lock", "process 12345678901234567890");  // left by a killed process
    const auto before = open_files();
    {
        errno = EWOULDBLOCK;  // left by an earlier call: must be ignored
        const OutputLock lock(out);
        const std::string said = told([&] { const OutputLock second(out); });
        CHECK(contains(said, "out is being written by another run (process " +
                                 std::to_string(getpid()) + ")"));
        const OutputLock other(folder / "other");
        CHECK(contains(told([&] { const OutputLock second(folder / "./out"); }), "another run"));
    }
    CHECK(fs::is_empty(folder.name));
    CHECK(open_files() == before);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const OutputLock lock(out);
        for (;;) pause();
    }
    for (int i = 0; i < 1000 && !fs::exists(out + ".lock"); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::string said;
    for (int i = 0; i < 1000 && said.empty(); ++i) {
        said = told([&] { const OutputLock lock(out); });
    }
    CHECK(contains(said, "another run"));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    CHECK(fs::exists(out + ".lock"));  // the file alone is not a lock
    { const OutputLock lock(out); }
    CHECK_FALSE(fs::exists(out + ".lock"));
    fs::create_symlink("text", out + ".lock");
    CHECK(contains(told([&] { const OutputLock lock(out); }), "out.lock is a symbolic link"));
}

TEST_CASE("files: a contended lock has one holder at a time, and leaves nothing open",
          "[day06][files][small]") {
    const Temporary folder;
    const auto before = open_files();
    std::atomic<int> holders = 0, together = 0;
    std::vector<std::string> errors(2);
    const auto take = [&](std::string& error) {
        for (int taken = 0; taken < 400 && error.empty();) {
            const std::string said = told([&] {
                const OutputLock lock(folder / "out");
                if (++holders > 1) ++together;
                ++taken;
                --holders;
            });
            if (!contains(said, "another run")) error = said;
        }
    };
    std::thread other([&] { take(errors[1]); });
    take(errors[0]);
    other.join();
    CHECK(errors == std::vector<std::string>(2));
    CHECK(together == 0);
    CHECK(open_files() == before);
    CHECK(fs::is_empty(folder.name));
}

TEST_CASE("files: descriptor 0 is usable if standard input is closed", "[day06][files][small]") {
    const Temporary folder;
    const std::string out = folder / "out";
    std::size_t read = 0, mapped = 0;
    const int input = dup(0);
    const auto with_0 = [&](const std::function<void()>& call) {
        close(0);
        return told(call);
    };
    CHECK(with_0([&] { write_whole(out, kThree); }).empty());
    CHECK(with_0([&] { check_output(out); }).empty());
    CHECK(with_0([&] { const OutputLock lock(out); }).empty());
    CHECK(with_0([&] { read = contents_of(out).size(); }).empty());
    CHECK(with_0([&] { mapped = MappedFile(out).bytes().size(); }).empty());
    const bool all_closed = fcntl(0, F_GETFD) < 0;
    if (input >= 0) dup2(input, 0), close(input);
    CHECK(all_closed);
    CHECK(read == 3);
    CHECK(mapped == 3);
    CHECK(std::distance(fs::directory_iterator(folder.name), {}) == 1);
}

TEST_CASE("files: lines of an input, which may be endless", "[day06][files][small]") {
    std::istringstream in("one\n\nlast");
    std::string line;
    for (const char* wanted : {"one", "", "last"}) {
        REQUIRE(next_line(in, line));
        CHECK(line == wanted);
    }
    CHECK_FALSE(next_line(in, line));
    const std::string million(std::size_t{1} << 20, 'x');
    std::istringstream fits(million + "\n"), longer(million + "x\n");
    REQUIRE(next_line(fits, line));
    CHECK(line == million);
    CHECK(told([&] { (void)next_line(longer, line); }) ==
          "a line of the input has more than 1048576 bytes");
}

TEST_CASE("checksums: a word that is added, removed or changed changes the sum",
          "[day06][files][small]") {
    std::vector<std::byte> bytes(37);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(7 * i);
    const std::uint64_t sum = checksum_of(bytes);
    CHECK(checksum_of(bytes) == sum);
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        CHECK(checksum_of(bytes) != sum);
        bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    }
    bytes.push_back(std::byte{0});  // zeros at the end count
    CHECK(checksum_of(bytes) != sum);
    CHECK(checksum_of(std::span(bytes).first(36)) != sum);
    // Two flipped sign bits, which only affect the top bit of a word.
    bytes[7] ^= std::byte{0x80}, bytes[15] ^= std::byte{0x80};
    CHECK(checksum_of(std::span(bytes).first(37)) != sum);
    CHECK(checksum_of({}) != checksum_of(std::span(bytes).first(1)));
}

TEST_CASE("checksums: every flipped bit of a file is reported, with its tensor",
          "[day06][files][small]") {
    GgufWriter writer;
    writer.text("general.architecture", "none");
    const Bytes five(20, std::byte{5}), nine(12, std::byte{9});
    writer.tensor("five", {5}, WeightType::f32, five);
    writer.tensor("nine", {3}, WeightType::f32, nine);
    CHECK_FALSE(Gguf(writer.bytes(), "plain").has_checksums());
    writer.checksums();
    writer.pad(3);
    Bytes bytes = writer.bytes();
    const Gguf whole(bytes, "file");
    REQUIRE(whole.has_checksums());
    CHECK(told([&] { whole.check_checksums(); }).empty());
    const auto inside = [&](const char* name, std::size_t at, std::size_t size) {
        const auto begin = static_cast<std::size_t>(whole.tensor(name).weight.data - bytes.data());
        return begin <= at && at < begin + size;
    };
    for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
        Bytes flipped = bytes;
        flipped[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        const std::string said = told([&] {
            const Gguf file(flipped, "file");
            file.has_checksums() ? file.check_checksums() : throw std::runtime_error("no checksum");
        });
        CAPTURE(bit / 8, said);
        CHECK(!said.empty());
        const bool in_five = inside("five", bit / 8, 20), in_nine = inside("nine", bit / 8, 12);
        const std::string end = " does not match its checksum: the file is damaged";
        if (in_five) CHECK(said == "file: tensor 'five'" + end);
        if (in_nine) CHECK(said == "file: tensor 'nine'" + end);
        if (bit / 8 >= bytes.size() - 3) CHECK(said == "file: the data outside the tensors" + end);
    }
}

TEST_CASE("memory: a size that no machine has is rejected before allocation",
          "[day06][files][small]") {
    CHECK(memory_bytes() > 0);
    check_memory("nothing", 0);
    check_memory("all", static_cast<double>(memory_bytes()));
    const std::string said = told([] { check_memory("a model", 1e21); });
    CHECK(contains(said,
                   "a model needs 1000000000000.0 GB of memory or more, but this machine "
                   "has "));
    CHECK(memory_text(1.44e6) == "1.4 MB");
    CHECK(memory_text(73.5e9) == "73.5 GB");
    CHECK(memory_text(1e9) == "1.0 GB");
    const Config endless = {1 << 20, 1 << 24, 1 << 20, 1, 1, 1, 1e-5f};
    CHECK(contains(told([&] { check_cache_memory(endless.cache(1 << 24)); }),
                   "a text of 16777216 tokens in 1048576 layers (their keys and values) needs "));
    CHECK(contains(told([&] {
                       const RandomModel small({1, 1, 32, 1, 32, 4, 1e-5f}, WeightType::f32);
                       ModelWeights model = small.weights();
                       model.config = endless;
                       (void)make_cpu_backend(model, 1 << 24, 1);
                   }),
                   "keys and values"));
}
