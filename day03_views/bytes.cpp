#include "day03_views/bytes.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::day03_views {
namespace {

void require_address(const char* op, const char* name, const void* data, int element) {
    const auto past = reinterpret_cast<std::uintptr_t>(data) % static_cast<unsigned>(element);
    if (past != 0) {
        refuse(std::string(op) + ": " + name + " begins " + std::to_string(past) +
               " bytes past a multiple of " + std::to_string(element) +
               ", but has elements of that many bytes");
    }
}

}  // namespace

void require_element(const char* op, const BytesIn& in, const BytesOut& out) {
    with_element(in.element, [](auto) {});
    if (in.element != out.element) {
        refuse(std::string(op) + ": in has elements of " + std::to_string(in.element) +
               " bytes, but out of " + std::to_string(out.element) + "; a move changes no element");
    }
    require_address(op, "in", in.data, in.element);
    require_address(op, "out", out.data, out.element);
}

}  // namespace sixdays::day03_views
