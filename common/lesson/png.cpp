#include "common/lesson/png.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "common/tensor/arguments.hpp"

#ifdef SIXDAYS_HAVE_PNG
#include <png.h>
#endif

namespace sixdays::lesson {

void write_png(const std::string& path, View<const std::uint8_t> pixels) {
    require_rank("write_png", "pixels", pixels, 2);
    require_contiguous("write_png", "pixels", pixels);
    require_memory("write_png", "pixels", pixels);
    const std::int64_t H = pixels.extent(0), W = pixels.extent(1);
    if (H < 1 || W < 1 || H > 65535 || W > 65535) {
        refuse("write_png: a picture of shape " + to_string(pixels.layout.shape) +
               "; rows and columns must be between 1 and 65,535");
    }
#ifdef SIXDAYS_HAVE_PNG
    png_image image;
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(W);
    image.height = static_cast<png_uint_32>(H);
    image.format = PNG_FORMAT_GRAY;
    // Under another name first: a full disk must not cost the reader the picture that was there.
    const std::string part = path + ".part";
    if (png_image_write_to_file(&image, part.c_str(), 0, pixels.data, 0, nullptr) == 0) {
        const std::string why = image.message;
        std::remove(part.c_str());
        throw std::runtime_error("the picture could not be written to " + path + ": " + why);
    }
    if (std::rename(part.c_str(), path.c_str()) != 0) {
        const std::string why = std::strerror(errno);
        std::remove(part.c_str());
        throw std::runtime_error("the picture could not be written to " + path + ": " + why);
    }
#else
    throw std::runtime_error("the picture was not written to " + path +
                             ": this program was built without libpng (apt install libpng-dev, "
                             "then configure and build again)");
#endif
}

}  // namespace sixdays::lesson
