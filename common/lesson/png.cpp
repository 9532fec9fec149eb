#include "common/lesson/png.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "common/tensor/arguments.hpp"

#ifdef SIXDAYS_HAVE_PNG
#include <png.h>
#endif

namespace sixdays::lesson {
#ifdef SIXDAYS_HAVE_PNG
namespace {

// Writes to `file` and closes it. Returns "" or the error.
std::string write_and_close(std::FILE* file, png_image image, const std::uint8_t* pixels) {
    if (file == nullptr) return std::strerror(errno);
    std::string why;
    if (png_image_write_to_stdio(&image, file, 0, pixels, 0, nullptr) == 0) why = image.message;
    if (std::fflush(file) != 0 && why.empty()) why = std::strerror(errno);
    if (std::fclose(file) != 0 && why.empty()) why = std::strerror(errno);
    return why;
}

// The descriptor of standard output or error, under any name; else -1.
int standard_stream_at(const struct stat& place) {
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
        struct stat other;
        if (fstat(stream, &other) == 0 && other.st_dev == place.st_dev &&
            other.st_ino == place.st_ino) {
            return stream;
        }
    }
    return -1;
}

// Follows symbolic links; the file itself may be missing.
std::filesystem::path end_of_links(std::filesystem::path path) {
    std::error_code none;
    for (int links = 0; links < 40 && std::filesystem::is_symlink(path, none); ++links) {
        path = path.parent_path() / std::filesystem::read_symlink(path, none);
    }
    return path;
}

// Writes under another name first: a full disk must not destroy an existing picture.
std::string replace(const std::string& target, const png_image& image, const std::uint8_t* pixels) {
    const std::string part = target + ".part";
    std::string why = write_and_close(std::fopen(part.c_str(), "wb"), image, pixels);
    if (why.empty() && std::rename(part.c_str(), target.c_str()) != 0) why = std::strerror(errno);
    if (!why.empty()) std::remove(part.c_str());
    return why;
}

}  // namespace
#endif

void write_png(const std::string& path, View<const std::uint8_t> pixels) {
    require_rank("write_png", "pixels", pixels, 2);
    require_contiguous("write_png", "pixels", pixels);
    require_memory("write_png", "pixels", pixels);
    const std::int64_t H = pixels.extent(0), W = pixels.extent(1);
    if (H < 1 || W < 1 || H > 65535 || W > 65535) {
        reject("write_png: a picture of shape ", pixels.layout.shape,
               "; rows and columns must be between 1 and 65,535");
    }
#ifdef SIXDAYS_HAVE_PNG
    png_image image;
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(W);
    image.height = static_cast<png_uint_32>(H);
    image.format = PNG_FORMAT_GRAY;
    struct stat place;
    const bool exists = stat(path.c_str(), &place) == 0;
    const int stream = exists ? standard_stream_at(place) : -1;
    std::string why;
    if (stream != -1) {
        std::fflush(stdout);
        why = write_and_close(fdopen(dup(stream), "wb"), image, pixels.data);
    } else if (exists && !S_ISREG(place.st_mode)) {  // a device or a pipe cannot be replaced
        why = write_and_close(std::fopen(path.c_str(), "ab"), image, pixels.data);
    } else {
        why = replace(end_of_links(path).string(), image, pixels.data);
    }
    if (!why.empty()) {
        throw std::runtime_error("the picture could not be written to " + path + ": " + why);
    }
#else
    throw std::runtime_error("the picture was not written to " + path +
                             ": this program was built without libpng (apt install libpng-dev, "
                             "then configure and build again)");
#endif
}

}  // namespace sixdays::lesson
