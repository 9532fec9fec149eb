#include "day06_transformer_ops/training/loss_curve.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sixdays::day06_transformer_ops {
namespace {

constexpr std::size_t kPoints = 250;                                  // maximum number of points
constexpr double kLeft = 60, kRight = 620, kTop = 20, kBottom = 270;  // of the plot, in pixels

constexpr const char* kHead = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 310">
<title>Loss over steps</title>
<style>
text { font: 13px sans-serif; fill: #444 }
.grid { stroke: #ccc }
.line { stroke: #06c; stroke-width: 2; fill: none }
@media (prefers-color-scheme: dark) {
  text { fill: #bbb } .grid { stroke: #444 } .line { stroke: #6bf }
}
</style>
)";

struct Point {
    double step, loss;
};

// Averages neighbours until at most kPoints are left.
std::vector<Point> points_of(const std::vector<float>& losses) {
    const std::size_t each = std::max<std::size_t>(1, (losses.size() + kPoints - 1) / kPoints);
    std::vector<Point> points;
    for (std::size_t begin = 0; begin < losses.size(); begin += each) {
        const std::size_t end = std::min(losses.size(), begin + each);
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += double{losses[i]};
        const double mean = sum / static_cast<double>(end - begin);
        if (mean > 0 && std::isfinite(mean)) {
            points.push_back({static_cast<double>(begin + end + 1) / 2, mean});
        }
    }
    return points;
}

// 1, 2 or 5 times a power of ten: the largest such number that is not above `x`, or the next one.
double round_down(double x) {
    const double power = std::pow(10, std::floor(std::log10(x)));
    return x >= 5 * power ? 5 * power : x >= 2 * power ? 2 * power : power;
}
double next(double tick) {
    const double power = std::pow(10, std::floor(std::log10(tick * 1.001)));
    return tick > 4.9 * power ? 10 * power : tick > 1.9 * power ? 5 * power : 2 * power;
}

template <class... Values>
std::string printed(const char* format, Values... values) {
    char text[200];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

}  // namespace

std::string loss_curve(const std::vector<float>& losses) {
    const std::vector<Point> points = points_of(losses);
    if (points.empty()) return std::string(kHead) + "</svg>\n";
    const auto [least, most] = std::minmax_element(
        points.begin(), points.end(), [](Point a, Point b) { return a.loss < b.loss; });
    const double low = round_down(least->loss), high = next(round_down(most->loss));
    const double steps = static_cast<double>(losses.size());
    const auto x_of = [&](double step) { return kLeft + (kRight - kLeft) * step / steps; };
    const auto y_of = [&](double loss) {
        return kBottom - (kBottom - kTop) * std::log(loss / low) / std::log(high / low);
    };
    std::string svg = kHead;
    for (double tick = low; tick < high * 1.01; tick = next(tick)) {
        svg += printed(R"(<path class="grid" d="M%.0f %.1fH%.0f"/>)", kLeft, y_of(tick), kRight);
        svg += printed("<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", kLeft - 6,
                       y_of(tick) + 4, tick);
    }
    for (int quarter = 0; quarter <= 4; ++quarter) {
        const double step = std::floor(steps * quarter / 4);
        svg += printed("<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%.0f</text>\n",
                       x_of(step), kBottom + 18, step);
    }
    svg += printed("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">steps</text>\n",
                   (kLeft + kRight) / 2, kBottom + 36);
    svg += "<polyline class=\"line\" points=\"";
    for (const Point& p : points) svg += printed("%.1f,%.1f ", x_of(p.step), y_of(p.loss));
    return svg + "\"/>\n</svg>\n";
}

}  // namespace sixdays::day06_transformer_ops
