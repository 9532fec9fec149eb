// What the translator generates, and what it rejects.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/emulator/translate/rewrite.hpp"
#include "common/testing/catch.hpp"

using sixdays::translate::Result;

namespace {

Result translated(const std::string& text, bool locals = false) {
    return sixdays::translate::rewrite(text, locals,
                                       [](std::string_view) { return std::string(); });
}

// The line and the sentence of the single error.
std::string rejected(const std::string& text) {
    const Result result = translated(text);
    REQUIRE(result.errors.size() == 1);
    return std::to_string(result.errors[0].line) + ": " + result.errors[0].sentence;
}

bool begins(const std::string& text, const std::string& words) {
    return text.rfind(words, 0) == 0;
}

}  // namespace

TEST_CASE("code that is not CUDA stays unchanged") {
    for (const char* text : {
             "int a = 1 << 2, b = c<d<e>>(3);\n",
             "// k<<<1, 2>>>(); __shared__ int x;\n",
             "/* k<<<1, 2>>>();\n __shared__ int x; */ int i = 1'000;\n",
             "const char* s = \"k<<<1>>>() \\\" __shared__\"; char c = '\"';\n",
             "const char* r = R\"x(k<<<1>>>() )\" asm(\"x\") )x\";\n",
             "#error don't k<<<1, 2>>>()\n#pragma unroll 4 /* k<<<\n 1 */\n",
             "__device__ int f(int a) { return a; }\n__constant__\n",
             "struct S { __device__ S& operator=(const S&) = default; };\n",
             "template <class T> __device__ T zero = T();\n",
             "extern __device__ int elsewhere[];\n",
             "__global__ void declared(int a);\n",
             "void f() { asm volatile(\"\" ::: \"memory\"); }\nint g() __asm__(\"h\");\n",
         }) {
        const Result result = translated(text);
        CHECK(result.text == text);
        CHECK(result.errors.empty());
        CHECK_FALSE(result.rewritten);
    }
}

TEST_CASE("on request, uninitialized variables are tracked, and nothing else") {
    for (const char* text : {
             "float x;\nstruct S { float x; void f(); };\n",
             "void f() { return x; }\nvoid g() { if (x) return; else y; }\n",
             "void f() { float x = 1, y = a < b; static int n; extern int m[]; constexpr int k; "
             "}\n",
             "void f() { const long i = long{b.x} * c.x + d.x; int{3} + e; x; ++x; a.b * c; }\n",
             "void f() { int g(int); using T = int; typedef int U; for (a; b; c) d; }\n",
             "void f() { switch (a) { case 0: float x; x = 1; } }\n",
             "void f() { struct S { int a, b[3]; }; }\n",
             "#define DECLARE float x;\nvoid f() { DECLARE }\n",
             "void f() { float x; if (a) goto end; end: x = 1; }\n",
         }) {
        const Result result = translated(text, true);
        CHECK(result.text == text);
        CHECK(result.errors.empty());
    }
    const auto watched = [](const std::string& name) {
        return " ::sixdays::emulator::Unset sixdays_unset_" + name + "(" + name + ", \"" + name +
               "\");";
    };
    for (const auto& [before, names] :
         std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"void f() { float x;", {"x"}},
             {"void f() { for (;;) { unsigned long long a, *b, c[2][3];", {"a", "b", "c"}},
             {"void f() { float x = 1, y, *z = &x, w[2], v = g<1, 2>(3, 4), t;", {"y", "w", "t"}},
             {"void f() { alignas(16) float x[4];", {"x"}},
             {"void f() { g([&] { const a::b<c, 3>* d;", {"d"}},
             {"void f() { switch (a) { case 0: { T x;", {"x"}},
             {"struct S { void f() { volatile int x;", {"x"}},
             {"template <class T> void f() { typename T::U x[N];", {"x"}},
         }) {
        std::string unsets;
        for (const std::string& name : names) unsets += watched(name);
        CHECK(translated(before + " g(); }", true).text == before + unsets + " g(); }");
    }
    const std::string begin = "void f() { int x;", more = " y = __shfl_sync(g(a, b), ";
    CHECK(translated(begin + more + "x, 0); t.shfl(x, 0); __shfl_sync(m, y, x); }", true).text ==
          begin + watched("x") + more + "::sixdays::emulator::shuffled(x), 0); t.shfl(" +
              "::sixdays::emulator::shuffled(x), 0); __shfl_sync(m, y, x); }");
}

TEST_CASE("host and device code are kept apart as in nvcc") {
    const std::string text =
        "#define HD __host__ __device__\n"
        "namespace cg = cooperative_groups;\n"
        "typedef struct { int v; } Plain;\n"
        "struct __align__(8) Aligned { int v; int get() const { return v; } };\n"
        "int twice(int x) { return 2 * x; }\n"
        "template <class T> T half_of(T x) { return x / 2; }\n"
        "__device__ int three() { return 3; }\n"
        "HD inline int four() { return 4; }\n"
        "__host__ __device__ int five() { return 5; }\n"
        "constexpr int six() { return 6; }\n"
        "int ours = 1;\n"
        "const int kSeven = 7;\n"
        "__device__ int theirs, table[8];\n"
        "__constant__ float fixed[4];\n"
        "__managed__ int shared_by_both;\n"
        "#define both_sides __host__ __device__\n"
        "both_sides float eight() { return 8; }\n"
        "static both_sides Plain nine(Plain p) { return p; }\n"
        "int overloaded(int x) { return x; }\n"
        "__device__ int overloaded(float x) { return 1; }\n"
        "__global__ void kernel(int* o, int n) {\n";
    const auto said = [&](const std::string& more) -> std::string {
        const Result result = translated(text + more + "\n}\n");
        std::string all;
        for (const auto& [line, sentence] : result.errors) {
            all += (all.empty() ? "" : " | ") + std::to_string(line) + ": " + sentence;
        }
        return all;
    };
    // Allowed: functions of both sides, lambdas of the other side, shadowing, symbol calls.
    for (const char* body : {
             "o[0] = three() + four() + five() + six() + kSeven + theirs + fixed[0] + "
             "overloaded(1) + eight(); nine(p);",
             "Aligned a; Plain b; cg::this_thread_block().sync(); int c[kSeven];",
             "int ours = 2; o[0] = ours + ns::twice(1) + a.twice(2); shared_by_both = n;",
             "}\nint main() { twice(1); four(); five(); shared_by_both = 3; kernel<<<1, 1>>>(0, "
             "1);",
             "}\nint main() { cudaMemcpyToSymbol(fixed, h, sizeof(fixed));",
             "}\nint main() { cudaGetSymbolAddress((void**)&p, table); int theirs = 1; theirs = 2;",
             "}\nint main() { each(n, [=] __device__(int i) { three(); __syncthreads(); });",
             "}\ntemplate <class F> __global__ void with(F twice, int* o) { o[0] = twice(1);",
             "}\nstruct S { __device__ void f() { three(); } void g() { twice(1); }",
         }) {
        INFO(body);
        CHECK(said(body).empty());
    }
    for (
        const auto& [body, sentence] : std::vector<std::pair<std::string, std::string>>{
            {"o[0] = twice(n);", "22: the kernel kernel calls twice(), a function of the host"},
            {"o[0] = half_of(n);", "22: the kernel kernel calls half_of(), a function of the host"},
            {"o[0] = ours;", "22: the kernel kernel uses `ours`, a variable of the host"},
            {"o[0] = rand();", "22: the kernel kernel calls rand(), a function of the host"},
            {"std::sort(o, o + n);",
             "22: the kernel kernel uses std::sort, which exists only on the host"},
            {"std::vector<int> v;",
             "22: the kernel kernel uses std::vector, which exists only on the host"},
            {"int a[n];",
             "22: the kernel kernel: the array `a` has an extent that is not a constant"},
            {"throw 1;", "22: the kernel kernel: kernels do not support exceptions"},
            {"}\n__device__ int f() { return twice(1);",
             "23: the device function f calls twice(), a function of the host"},
            {"}\nint main() { return three();",
             "23: main() of the host calls three(), which is __device__"},
            {"}\nint main() { __syncthreads();",
             "23: main() of the host calls __syncthreads(), which is __device__"},
            {"}\nint main() { theirs = 1;",
             "23: main() of the host uses the device's variable `theirs` by its name"},
            {"}\nint main() { const unsigned long all = sizeof(int) * theirs;",
             "23: main() of the host uses the device's variable `theirs` by its name"},
            {"}\nint main() { cudaMemcpy(table, h, 32, cudaMemcpyHostToDevice);",
             "23: main() of the host uses the device's variable `table` by its name"},
            {"}\nint main() { kernel<<<1, 1>>>(table, fixed[0]);",
             "23: main() of the host uses the device's variable `table` by its name"},
            {"}\nint main() { twice<<<1, 1>>>(3);",
             "23: twice is launched, but it is a plain function"},
            {"extern __shared__ int a[]; }\n__global__ void other() { extern __shared__ float a[];",
             "23: the name `a` of dynamic shared memory has another type"},
        }) {
        INFO(body);
        INFO(said(body));
        CHECK(begins(said(body), sentence));
    }
}

TEST_CASE("a byte order mark is removed") {
    const Result result = translated("\xef\xbb\xbf__global__ void k() {}\n");
    CHECK(result.errors.empty());
    CHECK(result.rewritten);
    CHECK(result.text == translated("__global__ void k() {}\n").text);
}

TEST_CASE("a translated launch keeps its name, its configuration and its line numbers") {
    const auto launch = [](const std::string& name) {
        return "::sixdays::emulator::configure(\"" + name +
               "\", [&](auto emu_f) { if constexpr (requires { emu_f(" + name +
               "); }) return emu_f(" + name + "); else return nullptr; }, [&](auto... emu_a) { " +
               name + "(emu_a...); }, ";
    };
    CHECK(translated("k<<<a, b>>>(c, d);").text == launch("k") + "a, b)(c, d);");
    CHECK(translated("x = 3; ns::k<(N > 4), A<B<int>>><<<1, f(2 >> 1)>>>();").text ==
          "x = 3; " + launch("ns::k<(N > 4), A<B<int>>>") + "1, f(2 >> 1))();");
    CHECK(translated("return (*p[i].q->k)<<<1, 2>>>();").text ==
          "return " + launch("(*p[i].q->k)") + "1, 2)();");
    CHECK(translated("::k<<<1, 2>>>(NULL, f(NULL));").text ==
          launch("::k") + "1, 2)(::sixdays::emulator::Null{}, f(NULL));");
    CHECK(translated("if (a) return ::k<<<1, 2>>>(); else ::k<<<1, 2>>>();").text ==
          "if (a) return " + launch("::k") + "1, 2)(); else " + launch("::k") + "1, 2)();");
    CHECK(translated("else (*p)<<<1, T<int>>>>(a);").text ==
          "else " + launch("(*p)") + "1, T<int>)(a);");
    CHECK(translated("// a /* b\nk<<<1, 2>>>();").text == "// a /* b\n" + launch("k") + "1, 2)();");
    CHECK(translated("#include NAME\nk<<<1, 2>>>(\"text\");").text ==
          "#include NAME\n" + launch("k") + "1, 2)(\"text\");");
    const std::string lines = "a::\nk // why\n <3>\n<<<1,\n2>>>\n(3);\n";
    const std::string text = translated(lines).text;
    CHECK(std::count(text.begin(), text.end(), '\n') == 6);
    CHECK(text.find("configure(\"a:: k <3>\"") != std::string::npos);
}

TEST_CASE("each shared variable becomes one object") {
    const auto inside = [](const std::string& text) {
        const std::string all = translated("void f() {" + text + "}").text;
        return all.substr(10, all.size() - 11);
    };
    const auto object = [](const std::string& type, const std::string& name) {
        return "static thread_local ::sixdays::emulator::Shared<" + type + "> sixdays_" + name +
               "; auto& " + name + " = sixdays_" + name + ".open(\"" + name + "\");";
    };
    CHECK(inside("__shared__ float a[N][3];") == object("float[N][3]", "a"));
    CHECK(inside("volatile __shared__ unsigned int a[2],\n *b, **c[4];") ==
          object("volatile unsigned int[2]", "a") + ' ' + object("volatile unsigned int*", "b") +
              ' ' + object("volatile unsigned int**[4]", "c") + '\n');
    CHECK(inside("static __shared__ __align__(16) P<int, (2 > 1)> a;") ==
          "__align__(16) " + object("P < int , ( 2 > 1 ) >", "a"));
    CHECK(inside("extern __shared__ T a[];") ==
          "auto* a = ::sixdays::emulator::dynamic_shared<T>();");
    CHECK(inside("extern __shared__ T a[][N + 1];") ==
          "auto* a = ::sixdays::emulator::dynamic_shared<T[N + 1]>();");
    CHECK(translated("extern __shared__ T a[];").text ==
          "extern T a[] __asm__(\"sixdays_dynamic_shared\");");
}

TEST_CASE("device variables are registered, each by its name") {
    const auto registered = [](const std::string& name) {
        return " static const bool sixdays_registered_" + name +
               " = ::sixdays::emulator::register_variable(" + name + ", \"" + name + "\"" +
               (name == "t" ? ", true);" : ");");
    };
    const std::string three = "static __device__ int a = f(1, 2), *b, c[2] = {1, 2};";
    CHECK(translated(three).text == three + registered("a") + registered("b") + registered("c"));
    const std::string within = "namespace n { __constant__ A<int, 2> t[2][2]; }";
    CHECK(translated(within).text ==
          "namespace n { __constant__ A<int, 2> t[2][2];" + registered("t") + " }");
}

TEST_CASE("a kernel's body first checks that a launch runs it") {
    const auto guarded = [&](const std::string& head, const std::string& rest,
                             const std::string& parameters) {
        INFO(head);
        CHECK(translated(head + rest).text ==
              head + " if (!::sixdays::emulator::enter_kernel(\"k\", \"" + parameters +
                  "\", __builtin_return_address(0))) return;" + rest.substr(0, rest.size() - 1) +
                  "::sixdays::emulator::reach_end_of_kernel(); }");
    };
    guarded("__global__ void k(int n) {", " n = 1; }", "int n");
    guarded(
        "template <class T, int N = 2>\nstatic void __global__ __launch_bounds__(N * 2)\nk(T n) {",
        "}", "T n");
    guarded("extern \"C\" __global__ void k() noexcept {", "}", "");
    guarded("template <> __global__ void k<int, 2>(const int*__restrict__ a,\nint n) {", "}",
            "const int * __restrict__ a , int n");
}

TEST_CASE("constructs that cannot be translated are rejected with their line") {
    CHECK(begins(rejected("void f() {\n    <<<1, 2>>>();\n}\n"),
                 "2: the emulator cannot parse this l"));
    CHECK(begins(rejected("void f() {\n\n    k<<<1, 2;\n}\n"),
                 "3: the emulator cannot parse this l"));
    CHECK(begins(rejected("void f() {\n __shared__ int a = 3;\n}\n"),
                 "2: the emulator cannot parse"));
    CHECK(
        begins(rejected("void f() {\n __shared__ int (*a)[3];\n}\n"), "2: the emulator cannot p"));
    CHECK(begins(rejected("extern __shared__ int a[3];"), "1: the size of dynamic shared memory"));
    CHECK(begins(rejected("\n__shared__ int a;\n"), "2: shared memory belongs to a block"));
    CHECK(begins(rejected("\n\n__global__ int k(int a) {\n}\n"), "3: the kernel k returns int."));
    CHECK(begins(rejected("__global__ float* k();"), "1: the kernel k returns float *."));
}

TEST_CASE("inline PTX becomes a call, or a compile-time error that names the instruction") {
    const auto body = [](const std::string& text) {
        return translated("void f() { " + text + "; }").text;
    };
    const std::string ptx = "::sixdays::emulator::ptx::";
    CHECK(body("asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x))") ==
          "void f() { do { " + ptx + "mov((x), " + ptx + "lane_id()); } while (0); }");
    CHECK(body("asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\\n\" :: \"r\"(to + 4), "
               "\"l\"(p))") == "void f() { do { " + ptx + "cp_async(" + ptx +
                                   "address((to + 4)), " + ptx +
                                   "address((p)), 16); } while (0); }");
    CHECK(
        body(
            "asm(\"{ld.global.cg.v2.f32 {%0, %1}, [%2+8];}\" : \"=f\"(x), \"=f\"(y) : \"l\"(p))") ==
        "void f() { do { " + ptx + "ld<float>(" + ptx +
            "address((p), 8), (x), (y)); } while (0); }");
    CHECK(body("asm(\"{ .reg .pred p; AGAIN: @!p bra DONE; setp.ne.b32 p, %0, 0; @p prefetch; \" "
               "\"bra AGAIN; DONE: }\" :: \"r\"(x))") ==
          "void f() { do { __label__ emu_AGAIN; __label__ emu_DONE; [[maybe_unused]] bool emu_p{}; "
          "emu_AGAIN:; if (!emu_p) goto emu_DONE; " +
              ptx +
              "setp<std::not_equal_to<unsigned>>(emu_p, (x), 0); if (emu_p) ; "
              "goto emu_AGAIN; emu_DONE:; } while (0); }");
    CHECK(body("asm(\"mbarrier.arrive.shared.b64 _, [%0];\" :: \"r\"(x))") ==
          "void f() { do { " + ptx + "mbarrier_arrive(::sixdays::emulator::Site::current(), " +
              ptx + "Ignored{}, " + ptx + "address((x))); } while (0); }");
    const std::string order = ", ::sixdays::emulator::MemoryOrder::";
    CHECK(body("asm(\"ld.acquire.gpu.global.b64 %0, [%1];\" : \"=l\"(x) : \"l\"(p))") ==
          "void f() { do { " + ptx + "ld_ordered<unsigned long long" + order + "acquire>(" + ptx +
              "address((p)), (x)); } while (0); }");
    CHECK(body("asm(\"red.release.gpu.add.f32 [%0], %1;\" :: \"l\"(p), \"f\"(x))") ==
          "void f() { do { " + ptx + "atom_add<float" + order + "release>(" + ptx + "Ignored{}, " +
              ptx + "address((p)), (x)); } while (0); }");
    for (const char* unknown :
         {"atom.global.add.s64 %0, [%1], %2", "red.global.add.noftz.f16x2 [%0], %1",
          "cp.async.bulk.tensor.2d.shared::cluster.global [%0]", "cp.async.bulk.commit_group",
          "mbarrier.arrive.noComplete.b64 %0", "setp.lt.and.s32 p, %0, 1, q", "@q mov.u32 %0, 1",
          "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0]",
          "{ .reg .pred p; @ p bra X; X: }", "{ .reg .b32 t; add.f32 %0, t, %0; }",
          "{ .reg .b32 t; ex2.approx.f32 %0, t; }", "{ .reg .b32 t; cvt.rn.bf16x2.f32 %0, t, %0; }",
          "{ .reg .b32 t; add.f32 t, %0, %0; }", "ld.global.b128 %0, [%0]",
          "barrier.cluster.arrive.relaxed.aligned"}) {
        INFO(unknown);
        CHECK(body("asm(\"" + std::string(unknown) + ";\" : \"=r\"(x))").find("static_assert") !=
              std::string::npos);
    }
    const std::string text = "void f() {\n asm volatile(\"{mma.sync.m16 %0;\"\n : \"=r\"(a));\n}\n";
    CHECK(translated(text).text ==
          "void f() {\n static_assert(false, \"inline PTX (mma.sync.m16) does not run on the "
          "emulator; docs/emulator.md lists what does\")\n;\n}\n");
    const std::string macro = "#define F(x) asm(\"mov.u32 %0, 1;\" \\\n : \"=r\"(x))\nint i;\n";
    CHECK(translated(macro).text ==
          "#define F(x) do { " + ptx + "mov((x), 1); } while (0)\\\n\nint i;\n");
}

TEST_CASE("allocations in functions that may run on the device are redirected") {
    const std::string here = "::sixdays::emulator::";
    CHECK(translated("__device__ void f() { p = (T*)malloc(n); free(p); }").text ==
          "__device__ void f() { p = (T*)" + here + "allocate_here(n); " + here +
              "free_here(p); }");
    CHECK(translated("__device__ void f() { p = new T[n]; delete[] p; delete q->r; }").text ==
          "__device__ void f() { p = new (" + here + "Here{}) T[n]; " + here +
              "Delete<true>{} = p; " + here + "Delete<false>{} = q->r; }");
    for (const char* same : {"__device__ void f() { p = new (q) T; a.free(p); std::malloc(3); }",
                             "struct S { S(const S&) = delete; void free(int); };",
                             "__device__ void f() { void free(void*); T::operator new(3); }",
                             "int main() { p = new T[n]; q = malloc(3); free(q); delete p; }"}) {
        CHECK(translated(same).text == same);
    }
}

TEST_CASE("comparisons of __CUDA_ARCH__ are translated, tests for its definition are not") {
    CHECK(translated("#if __CUDA_ARCH__ >= 700\n# elif 1 && __CUDA_ARCH__ < 600\n").text ==
          "#if 800 >= 700\n# elif 1 && 800 < 600\n");
    for (const char* same : {"#ifdef __CUDA_ARCH__\n", "#if defined(__CUDA_ARCH__)\n",
                             "int a = __CUDA_ARCH__ >= 700;\n"}) {
        CHECK(translated(same).text == same);
    }
}

TEST_CASE("a shift of a literal is checked, and a #define between statements belongs to neither") {
    CHECK(translated("int f(int n) { return (1u << n) - 1; }").text ==
          "int f(int n) { return (1u << ::sixdays::emulator::shifted << n) - 1; }");
    for (const char* same : {"int f(int n) { return 2 * 1 << n; }", "int f() { return 1 << 5; }",
                             "void f() { cout << 1 << n; }", "int f(int n) { return n << 3; }"}) {
        CHECK(translated(same).text == same);
    }
    CHECK(translated(
              "using namespace std;\n#define N 4\n__global__ void k() { __shared__ int s[N]; }")
              .errors.empty());
}
