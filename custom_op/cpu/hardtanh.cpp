// Elements are compared as integers. The rank of a number is its place in the order -inf < ... < -0 < +0 <
// ... < +inf; NaNs rank outside of it. An element is outside the interval when its rank is one of the `below`
// lowest or one of the `above` highest: two counts, found once per call by comparing numbers of the element's
// type with the bounds exactly. So 16-bit elements are not widened, bounds are not rounded, and NaNs pass
// without a test of their own.
#include "hardtanh.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "helpers.h"

#ifdef __x86_64__
#include <emmintrin.h>
#endif

#define INLINE inline __attribute__((always_inline))

namespace {
// A binary floating-point type: a sign, an exponent, and kMantissa bits of mantissa, in an unsigned integer.
template <class T, int kMantissa>
struct Format {
    using Bits = T;
    using Signed = std::make_signed_t<Bits>;
    static constexpr Bits kMagnitude = std::numeric_limits<Signed>::max();
    static constexpr Bits kInfinity = kMagnitude >> kMantissa << kMantissa;
    static constexpr Bits kNumbers = 2 * (kInfinity + 1);
    static constexpr int kLowestExponent = 1 - (kInfinity >> kMantissa >> 1) - kMantissa;

    static double Value(Bits bits) {
        const Bits magnitude = bits & kMagnitude;
        const int exponent = magnitude >> kMantissa;
        const int binade = std::max(exponent - 1, 0);
        const Bits mantissa = magnitude - (static_cast<Bits>(binade) << kMantissa);
        double value = std::ldexp(mantissa, kLowestExponent + binade);
        if (magnitude >= kInfinity) {
            value = magnitude == kInfinity ? HUGE_VAL : NAN;
        }
        return bits == magnitude ? value : -value;
    }

    // The nearest number of the type, ties to even.
    static Bits Round(double value) {
        const Bits sign = std::signbit(value) ? kMagnitude + 1 : 0;
        if (!std::isfinite(value)) {
            return sign | (std::isnan(value) ? kMagnitude : kInfinity);
        }
        const int step = std::max(std::ilogb(value), kLowestExponent + kMantissa) - kMantissa;
        const int64_t steps = std::llrint(std::ldexp(std::fabs(value), -step));
        const int64_t magnitude = (static_cast<int64_t>(step - kLowestExponent) << kMantissa) + steps;
        return sign | static_cast<Bits>(std::min<int64_t>(magnitude, kInfinity));
    }

    static INLINE Bits Rank(Bits bits) {
        const Bits negative = static_cast<Signed>(bits) >> (8 * sizeof(Bits) - 1);
        return (bits ^ (negative & kMagnitude)) + kInfinity + 1;
    }

    static Bits NumberOfRank(Bits rank) {
        return rank > kInfinity ? rank - kInfinity - 1 : (kInfinity - rank) | (kMagnitude + 1);
    }

    // How many numbers of the type satisfy a condition that holds for the lowest ones only.
    template <class Condition>
    static Bits CountLowest(Condition condition) {
        Bits begin = 0;
        Bits end = kNumbers;
        while (begin < end) {
            const Bits middle = begin + (end - begin) / 2;
            if (condition(Value(NumberOfRank(middle)))) {
                begin = middle + 1;
            } else {
                end = middle;
            }
        }
        return begin;
    }
};
using Float32 = Format<uint32_t, 23>;
using Float16 = Format<uint16_t, 10>;
using BFloat16 = Format<uint16_t, 7>;

double Exact(float bound) {
    uint32_t bits;
    std::memcpy(&bits, &bound, sizeof(bits));
    return Float32::Value(bits);  // unlike a conversion, not subject to a denormals-are-zero mode
}

template <class F>
struct Interval {
    using Bits = typename F::Bits;
    Bits below, above;

    Interval(double min, double max)
        : below(F::CountLowest([min](double value) { return value < min; })),
          above(F::kNumbers - F::CountLowest([max](double value) { return !(value > max); })) {}

    // Masks: all ones where it is so, zero elsewhere.
    INLINE Bits IsBelow(Bits bits) const { return F::Rank(bits) < below ? ~Bits{0} : Bits{0}; }
    INLINE Bits IsAbove(Bits bits) const {
        return static_cast<Bits>(F::Rank(bits) + above - F::kNumbers) < above ? ~Bits{0} : Bits{0};
    }
};

template <class F>
struct Gradient {
    using Bits = typename F::Bits;
    const Bits* gradOutput;
    const Bits* self;
    Bits* out;
    Interval<F> interval;

    Gradient(const void* gradOutput, const void* self, void* out, float min, float max)
        : gradOutput(static_cast<const Bits*>(gradOutput)),
          self(static_cast<const Bits*>(self)),
          out(static_cast<Bits*>(out)),
          interval(Exact(min), Exact(max)) {}

    INLINE Bits operator()(int64_t i) const {
        return gradOutput[i] & ~(interval.IsBelow(self[i]) | interval.IsAbove(self[i]));
    }
    INLINE void Prefetch(int64_t i) const {
        __builtin_prefetch(gradOutput + i);
        __builtin_prefetch(self + i);
    }
};

template <class F>
struct Clamp {
    using Bits = typename F::Bits;
    const Bits* self;
    Bits* out;
    Interval<F> interval;
    Bits min, max;

    Clamp(const void* self, void* out, float min, float max)
        : self(static_cast<const Bits*>(self)),
          out(static_cast<Bits*>(out)),
          interval(Exact(min), Exact(max)),
          min(F::Round(Exact(min))),
          max(F::Round(Exact(max))) {}

    INLINE Bits operator()(int64_t i) const {
        const Bits below = interval.IsBelow(self[i]);
        const Bits above = interval.IsAbove(self[i]);
        return (above & max) | (~above & ((below & min) | (~below & self[i])));
    }
    INLINE void Prefetch(int64_t i) const { __builtin_prefetch(self + i); }
};

// Writes operation(begin + i) to destination[i]; the destination may be an input of the operation.
template <class Operation>
INLINE void Evaluate(Operation operation, int64_t begin, int64_t count,
                     typename Operation::Bits* destination) {
#pragma GCC ivdep
    for (int64_t i = 0; i < count; ++i) {
        destination[i] = operation(begin + i);
    }
}

// `stream` writes past the caches, which saves reading the lines of `out` before they are written.
template <class Operation>
INLINE void EvaluateRange(const Operation& operation, int64_t begin, int64_t end,
                          [[maybe_unused]] bool stream) {
    using Bits = typename Operation::Bits;
    constexpr int64_t kLine = 64 / sizeof(Bits);
    constexpr int64_t kBlock = 4 * kLine;
    constexpr int64_t kAhead = 2 * kBlock;
    // Blocks begin on a cache line of `out`, as do those of inputs with the same offset from one.
    const auto address = reinterpret_cast<uintptr_t>(operation.out + begin);
    const int64_t head = std::min<int64_t>(end - begin, -address / sizeof(Bits) % kLine);
    Evaluate(operation, begin, head, operation.out + begin);
    begin += head;
#ifdef __x86_64__
    if (stream) {
        for (; end - begin >= kBlock; begin += kBlock) {
            alignas(64) Bits block[kBlock];
            Evaluate(operation, begin, kBlock, block);
            const __m128i* from = reinterpret_cast<const __m128i*>(block);
            __m128i* to = reinterpret_cast<__m128i*>(operation.out + begin);
            for (size_t i = 0; i < kBlock * sizeof(Bits) / sizeof(__m128i); ++i) {
                _mm_stream_si128(to + i, _mm_load_si128(from + i));
            }
        }
        _mm_sfence();
    }
#endif
    for (; end - begin >= kBlock; begin += kBlock) {
        for (int64_t i = begin + kAhead; i < begin + kAhead + kBlock; i += kLine) {
            operation.Prefetch(i);
        }
        Evaluate(operation, begin, kBlock, operation.out + begin);
    }
    Evaluate(operation, begin, end - begin, operation.out + begin);
}

// EvaluateRange compiled for an instruction set; all of them give the same bits.
template <class Operation>
using Variant = void (*)(const Operation& operation, int64_t begin, int64_t end, bool stream);

template <class Operation>
void Baseline(const Operation& operation, int64_t begin, int64_t end, bool stream) {
    EvaluateRange(operation, begin, end, stream);
}

#ifdef __x86_64__
template <class Operation>
__attribute__((target("avx2"))) void Avx2(const Operation& operation, int64_t begin, int64_t end,
                                          bool stream) {
    EvaluateRange(operation, begin, end, stream);
}

template <class Operation>
__attribute__((target("avx512bw,avx512vl,prefer-vector-width=512"))) void Avx512(const Operation& operation,
                                                                                 int64_t begin, int64_t end,
                                                                                 bool stream) {
    EvaluateRange(operation, begin, end, stream);
}
#endif

enum InstructionSet { BASELINE, AVX2, AVX512 };

InstructionSet BestInstructionSet() {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        return AVX512;
    }
    if (__builtin_cpu_supports("avx2")) {
        return AVX2;
    }
#endif
    return BASELINE;
}
std::atomic<int> instructionSet{BestInstructionSet()};

template <class Operation>
Variant<Operation> CurrentVariant() {
#ifdef __x86_64__
    switch (instructionSet) {
        case AVX512:
            return Avx512<Operation>;
        case AVX2:
            return Avx2<Operation>;
    }
#endif
    return Baseline<Operation>;
}

template <class Operation>
void Launch(const Operation& operation, int64_t count, int threads) {
    constexpr int64_t kElement = sizeof(typename Operation::Bits);
    constexpr int64_t kWorthAThread = (512 << 10) / kElement;
    constexpr int64_t kWorthStreaming = (8 << 20) / kElement;
    constexpr int64_t kLeastShare = (64 << 10) / kElement;
    constexpr int64_t kMostShare = (512 << 10) / kElement;
    constexpr int64_t kSharesPerThread = 32;  // so that no thread waits long for the last one
    const Variant<Operation> evaluate = CurrentVariant<Operation>();
    const bool stream = count >= kWorthStreaming;
    if (threads == 0 && count >= 2 * kWorthAThread) {
        threads = DefaultThreads();
    }
    threads = static_cast<int>(std::min<int64_t>(count / kWorthAThread, threads));
    if (threads <= 1) {
        evaluate(operation, 0, count, stream);
        return;
    }
    const int64_t share = std::min(std::max(count / (kSharesPerThread * threads), kLeastShare), kMostShare);
    std::atomic<int64_t> next{0};
    const auto job = [&] {
        for (int64_t begin; (begin = next.fetch_add(share)) < count;) {
            evaluate(operation, begin, std::min(begin + share, count), stream);
        }
    };
    RunWithHelpers(job, threads - 1);
}

// Launches Operation<the format of dtype>(tensors..., min, max).
template <template <class> class Operation, class... Tensors>
int LaunchFor(int dtype, int64_t count, int threads, float min, float max, Tensors... tensors) {
    if (count < 0 || threads < 0) {
        return kInvalidParameter;
    }
    switch (dtype) {
        case HARDTANH_FLOAT32:
            Launch(Operation<Float32>(tensors..., min, max), count, threads);
            return 0;
        case HARDTANH_FLOAT16:
            Launch(Operation<Float16>(tensors..., min, max), count, threads);
            return 0;
        case HARDTANH_BFLOAT16:
            Launch(Operation<BFloat16>(tensors..., min, max), count, threads);
            return 0;
    }
    return kInvalidParameter;
}
}  // namespace

int hardtanh_grad_cpu(const void* gradOutput, const void* self, void* out, int64_t count, int dtype,
                      float min, float max, int threads) {
    return LaunchFor<Gradient>(dtype, count, threads, min, max, gradOutput, self, out);
}

int hardtanh_cpu(const void* self, void* out, int64_t count, int dtype, float min, float max, int threads) {
    return LaunchFor<Clamp>(dtype, count, threads, min, max, self, out);
}

int hardtanh_cpu_use_instruction_set(int set) {
    if (set < BASELINE || set > BestInstructionSet()) {
        return kInvalidParameter;
    }
    instructionSet = set;
    return 0;
}
