#include "helpers.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

namespace {
class Helpers {
public:
    void Run(const std::function<void()>& job, int count) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (job_ != nullptr) {
            lock.unlock();
            job();
            return;
        }
        job_ = &job;
        Start(count);
        openings_ = count;
        lock.unlock();
        for (int i = 0; i < count; ++i) {
            wake_.notify_one();
        }
        job();
        lock.lock();
        openings_ = 0;
        lock.unlock();
        while (active_ > 0) {  // as long as one share of the work takes
            std::this_thread::yield();
        }
        lock.lock();
        job_ = nullptr;
    }

private:
    void Start(int count) {
        try {
            for (; started_ < count; ++started_) {
                std::thread([this] { Help(); }).detach();
            }
        } catch (const std::system_error&) {
            // No more threads to be had: those that run do the work.
        }
    }

    void Help() {
        // A network's next operator follows soon, and looking out for it is quicker than sleeping and being
        // woken.
        constexpr std::chrono::microseconds kLookOut(100);
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [this] { return openings_ > 0; });
            --openings_;
            ++active_;
            const std::function<void()>& job = *job_;
            lock.unlock();
            job();
            --active_;
            const auto end = std::chrono::steady_clock::now() + kLookOut;
            while (openings_ == 0 && std::chrono::steady_clock::now() < end) {
                std::this_thread::yield();
            }
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    const std::function<void()>* job_ = nullptr;
    int started_ = 0;
    std::atomic<int> openings_{0};
    std::atomic<int> active_{0};
};

// Never destroyed: its threads run as long as the process. A forked child has none of them and starts afresh.
Helpers* const helpers = [] {
    pthread_atfork(nullptr, nullptr, [] { new (helpers) Helpers; });
    return new Helpers;
}();
}  // namespace

int DefaultThreads() {
    constexpr int kMost = 32;  // more do not make memory faster
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? std::min(CPU_COUNT(&allowed), kMost)
                                                                : kMost;
}

void RunWithHelpers(const std::function<void()>& job, int count) { helpers->Run(job, count); }
