/// @file
///     sixdays_translate [--locals | --locals=own] in.cu out.cpp out.d [folder of headers]...
///
/// Rewrites a CUDA source file as C++ for g++ (rewrite.hpp), along with those of our headers that
/// need it. Headers are looked up next to the including file and in the given folders; rewritten
/// ones are placed next to out.cpp. out.d lists all files read, for the build. --locals tracks
/// local variables until they are initialized; --locals=own only those of in.cu. Untranslatable
/// constructs are reported with file and line, and the exit status is 1.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include "common/emulator/translate/rewrite.hpp"

namespace {

namespace fs = std::filesystem;

std::optional<std::string> read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

class Translator {
public:
    enum class Locals { none, own, all };

    Translator(fs::path output, Locals locals, std::vector<fs::path> folders)
        : output_(std::move(output)), locals_(locals), folders_(std::move(folders)) {}

    /// @return the path of the new text; `path` itself if nothing had to change
    fs::path translate(const fs::path& path, const fs::path& target) {
        const auto known = done_.find(path);
        if (known != done_.end()) return known->second;
        done_[path] = path;  // stops recursive includes
        const bool main = target == output_;
        const std::optional<std::string> text = read(path);
        if (!text) {
            failed_ = true;
            std::cerr << path.string() << ": error: this file cannot be read\n";
            return path;
        }
        bool changed = main;
        const bool locals = locals_ == Locals::all || (locals_ == Locals::own && main);
        const auto result = sixdays::translate::rewrite(*text, locals, [&](std::string_view named) {
            const fs::path original = find(named, path.parent_path());
            if (original.empty()) return missing(named);
            const fs::path now =
                translate(original, output_.string() + "." + std::to_string(done_.size()) + ".hpp");
            changed = changed || now != original;
            return '"' + now.string() + '"';
        });
        for (const auto& [line, sentence] : result.errors) {
            failed_ = true;
            std::cerr << path.string() << ':' << line << ": error: " << sentence << ".\n";
        }
        if (!changed && !result.rewritten) return path;
        std::ofstream(target, std::ios::binary) << "#line 1 " << path << '\n' << result.text;
        return done_[path] = target;
    }

    bool failed() const { return failed_; }
    void write_dependencies(const fs::path& file) const {
        std::ofstream out(file);
        out << escaped(output_) << ':';
        for (const auto& [path, target] : done_) out << " \\\n  " << escaped(path);
        out << '\n';
    }

private:
    static std::string escaped(const fs::path& path) {
        std::string text;
        for (const char c : path.string()) text += (c == ' ' ? "\\" : "") + std::string(1, c);
        return text;
    }
    fs::path find(std::string_view named, const fs::path& beside) const {
        const fs::path name(named.substr(1, named.size() - 2));
        std::vector<fs::path> places = folders_;
        if (named.front() == '"') places.insert(places.begin(), beside);
        for (const fs::path& folder : places) {
            std::error_code none;
            if (fs::is_regular_file(folder / name, none)) return fs::canonical(folder / name);
        }
        return {};
    }

    /// For a part of CUDA that the emulator lacks: the name of a missing file, so that the compiler
    /// reports it even where an installed CUDA Toolkit has the header.
    std::string missing(std::string_view named) const {
        const std::string name(named.substr(1, named.size() - 2));
        for (const fs::path& folder : folders_) {
            for (const char* ours : {"include", "libraries", "tile"}) {
                if (fs::exists(folder / "common/emulator" / ours / name)) return {};
            }
        }
        for (const char* part : {"cuda", "cub/", "thrust/", "cooperative_groups", "cublas", "cudnn",
                                 "cufft", "curand", "cusolver", "cusparse", "cutlass/", "cute/",
                                 "mma.h", "nccl", "nvToolsExt", "nvtx3/", "sm_", "texture_"}) {
            if (name.rfind(part, 0) == 0) return '"' + name + ", a part of CUDA\"";
        }
        return {};
    }

    fs::path output_;
    Locals locals_;
    std::vector<fs::path> folders_;
    std::map<fs::path, fs::path> done_;
    bool failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
    const std::string_view flag = argc > 1 ? argv[1] : "";
    const auto locals = flag == "--locals"       ? Translator::Locals::all
                        : flag == "--locals=own" ? Translator::Locals::own
                                                 : Translator::Locals::none;
    char** const names = argv + (locals == Translator::Locals::none ? 1 : 2);
    if (argv + argc - names < 3) {
        std::cerr << "sixdays_translate [--locals | --locals=own] in.cu out.cpp out.d [folder of "
                     "headers]...\n";
        return 2;
    }
    Translator translator(names[1], locals, {names + 3, argv + argc});
    translator.translate(fs::absolute(names[0]).lexically_normal(), names[1]);
    translator.write_dependencies(names[2]);
    if (translator.failed()) fs::remove(names[1]);
    return translator.failed() ? 1 : 0;
}
