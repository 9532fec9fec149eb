#include "common/lesson/ranges.hpp"

#ifdef SIXDAYS_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace sixdays::lesson {

#ifdef SIXDAYS_HAVE_NVTX
Range::Range(const std::string& name) {
    nvtxRangePushA(name.c_str());
}
Range::~Range() {
    nvtxRangePop();
}
#else
Range::Range(const std::string&) {}
Range::~Range() {}
#endif

}  // namespace sixdays::lesson
