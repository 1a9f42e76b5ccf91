// Threads for work that can be shared out.
#pragma once

#include <functional>

// The number of threads that is useful in the calling thread: the CPUs it may run on, up to a limit.
int DefaultThreads();

// Runs `job` in this thread and in up to `count` other threads at once; the job itself shares out its work.
// The others join a job on which the caller is already at work, so a job never waits for a thread to wake up,
// and a caller that finds them taken by another one does its job alone.
void RunWithHelpers(const std::function<void()>& job, int count);
