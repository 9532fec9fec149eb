// Tests of the sinusoidal positions: known answers, every layout, argument checks.
#include "common/testing/catch.hpp"
#include "day06_transformer_ops/embedding/embedding.hpp"
#include "day06_transformer_ops/embedding/sinusoidal.op.hpp"

using namespace sixdays;
using namespace sixdays::day06_transformer_ops;
using namespace sixdays::testing;

namespace {

TEST_CASE("sinusoidal positions of (4, 6) match NumPy", "[day06][embedding][small]") {
    // p = numpy.arange(4)[:, None]; c = numpy.arange(6)[None]; a = p / 10000.0 ** (c // 2 * 2 / 6)
    // numpy.where(c % 2 == 0, numpy.sin(a), numpy.cos(a))
    Operation op = sinusoidal_operation({4, 6});
    know(op, {0.0,
              1.0,
              0.0,
              1.0,
              0.0,
              1.0,  //
              0.8414709848078965,
              0.5403023058681398,
              0.046399223464731285,
              0.9989229760406304,
              0.0021544330233656045,
              0.9999976792064809,  //
              0.9092974268256817,
              -0.4161468365471424,
              0.09269850077872725,
              0.9956942241237399,
              0.0043088560467428125,
              0.9999907168366957,  //
              0.1411200080598672,
              -0.9899924966004454,
              0.13879810108005056,
              0.990320699135675,
              0.006463259070189646,
              0.9999791129229608});
    CHECK(computes_its_result(op));
}

TEST_CASE("embed adds a scaled token and its sinusoidal position", "[day06][embedding][small]") {
    // C = 4, so the first transformer's scale sqrt(C) is 2: the table of tokens is scaled once.
    Tensor<float> tokens({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), positions({3, 4});
    for (std::int64_t k = 0; k < 8; ++k) tokens.data()[k] *= 2;
    sinusoidal_positions_cpu(positions.view());
    const Tensor<std::int64_t> ids({2}, {1, 0}), places({2}, {0, 2});
    HostOut<float> out({2, 4});
    embed_cpu<float>(tokens.view(), ids.view(), positions.view(), places.view(), out.view());
    // sin 2, cos 2, sin 0.02, cos 0.02 in float64, plus 2 4 6 8
    const Tensor<double> want({2, 4}, {10, 13, 14, 17, 2.9092974268256817, 3.5838531634528574,
                                       6.0199986666933331, 8.9998000066665776});
    CHECK(out.close_to(want, [](const Index&) { return 2e-6; }));
}

TEST_CASE("sinusoidal positions: CPU reference and kernel reject the same",
          "[day06][embedding][small]") {
    Tensor<float> out({3, 4});
    const auto rejected = [](View<float> to, double base, const char* words) {
        CHECK(both_reject([&] { sinusoidal_positions_cpu(to, base); },
                          [&] { sinusoidal_positions_cuda(to, base); }, words));
    };
    rejected(row(out.view(), 0), 10000,
             "sinusoidal_positions: out has shape (4) of rank 1, but rank 2 is needed");
    for (const double base : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
        rejected(out.view(), base, "but must be above 0 and finite");
    }
}

}  // namespace
