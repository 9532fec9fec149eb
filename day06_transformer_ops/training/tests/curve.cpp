// The loss curve of a run.
#include "day06_transformer_ops/training/loss_curve.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include "common/testing/testing.hpp"

using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

// The points of the curve in pixels: x to the right, y down.
std::vector<std::pair<double, double>> points_in(const std::string& svg) {
    const std::size_t begin = svg.find("points=\"") + 8;
    std::string text = svg.substr(begin, svg.find('"', begin) - begin);
    std::replace(text.begin(), text.end(), ',', ' ');
    std::istringstream in(text);
    std::vector<std::pair<double, double>> points;
    for (double x = 0, y = 0; in >> x >> y;) points.emplace_back(x, y);
    return points;
}

}  // namespace

TEST_CASE("a loss that halves each time is a straight line", "[day06][training][small]") {
    const std::string svg = loss_curve({8, 4, 2, 1, 0.5f});
    const auto points = points_in(svg);
    REQUIRE(points.size() == 5);
    for (std::size_t i = 1; i < points.size(); ++i) {
        CHECK(std::fabs(points[i].first - points[i - 1].first - 112) < 0.2);  // 560 pixels, 5 steps
        // From 10 down to 0.5 are 250 pixels: log 2 / log 20 of them per step.
        CHECK(std::fabs(points[i].second - points[i - 1].second - 57.84) < 0.2);
    }
    CHECK(std::fabs(points[4].second - 270) < 0.1);  // the smallest loss is on the lowest tick
    CHECK(contains(svg, ">10</text>"));
    CHECK(contains(svg, ">0.5</text>"));
    CHECK(!contains(svg, ">0.2</text>"));
    // Five ticks for the steps: with eight steps, the fourth one is labeled 6, at three quarters.
    CHECK(contains(loss_curve({8, 7, 6, 5, 4, 3, 2, 1}),
                   R"(<text x="480.0" y="288" text-anchor="middle">6</text>)"));
}

TEST_CASE("many steps become few points, and values that are not losses are omitted",
          "[day06][training][small]") {
    std::vector<float> losses(1001, 3);
    losses[0] = losses[1] = losses[2] = losses[3] = 1, losses[4] = 6;  // five steps per point
    const auto points = points_in(loss_curve(losses));
    CHECK(points.size() == 201);
    CHECK(points[0].second > points[1].second);  // a mean of 2, lower than 3
    losses[7] = std::numeric_limits<float>::quiet_NaN();
    CHECK(points_in(loss_curve(losses)).size() == 200);
    CHECK(!contains(loss_curve({}), "polyline"));
    CHECK(points_in(loss_curve({2})).size() == 1);
}
