/*
 * The gradient of Hardtanh through the two-phase C API, from aclInit to aclFinalize; prints 0 0 0 3 0 5 0 0.
 *
 * With CANN's set_env.sh sourced and ASCEND_CUSTOM_OPP_PATH set to the installed vendor package:
 *
 *   vendor=$ASCEND_CUSTOM_OPP_PATH/op_api
 *   g++ -std=c++17 aclnn_hardtanh_backward.cpp -o aclnn_hardtanh_backward \
 *       -I$ASCEND_HOME_PATH/include -I$vendor/include \
 *       -L$vendor/lib -L$ASCEND_HOME_PATH/lib64 -lcust_opapi -lnnopbase -lascendcl
 *   LD_LIBRARY_PATH=$vendor/lib:$LD_LIBRARY_PATH ./aclnn_hardtanh_backward
 */
#include "aclnn_hardtanh_backward.h"

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace {

void Check(int32_t status, const char* call) {
    if (status == 0) {
        return;
    }
    const char* reason = aclGetRecentErrMsg();
    throw std::runtime_error(std::string(call) + " returned " + std::to_string(status) +
                             (reason == nullptr ? "" : std::string(": ") + reason));
}

template <typename T>
T* NotNull(T* object, const char* call) {
    if (object == nullptr) {
        throw std::runtime_error(std::string(call) + " returned a null pointer");
    }
    return object;
}

// Calls its function when it goes out of scope: what was acquired is released in reverse order, also after an
// error.
template <typename Function>
class Finally {
public:
    explicit Finally(Function function) : function_(function) {}
    ~Finally() {
        const int32_t status = function_();
        if (status != 0) {
            std::fprintf(stderr, "a release failed with %d\n", status);
        }
    }
    Finally(const Finally&) = delete;
    Finally& operator=(const Finally&) = delete;

private:
    Function function_;
};

// A contiguous float32 tensor in device memory of its own.
class DeviceTensor {
public:
    explicit DeviceTensor(const std::vector<int64_t>& shape) : bytes_(sizeof(float)) {
        for (const int64_t dim : shape) {
            bytes_ *= static_cast<size_t>(dim);
        }
        Check(aclrtMalloc(&data_, bytes_, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        tensor_ = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                  shape.data(), shape.size(), data_);
        if (tensor_ == nullptr) {
            aclrtFree(data_);
            throw std::runtime_error("aclCreateTensor returned a null pointer");
        }
    }
    ~DeviceTensor() {
        aclDestroyTensor(tensor_);
        aclrtFree(data_);
    }
    DeviceTensor(const DeviceTensor&) = delete;
    DeviceTensor& operator=(const DeviceTensor&) = delete;

    aclTensor* Get() const { return tensor_; }
    void CopyFrom(const std::vector<float>& values) {
        Check(aclrtMemcpy(data_, bytes_, values.data(), values.size() * sizeof(float),
                          ACL_MEMCPY_HOST_TO_DEVICE),
              "aclrtMemcpy to the device");
    }
    std::vector<float> ToHost() const {
        std::vector<float> values(bytes_ / sizeof(float));
        Check(aclrtMemcpy(values.data(), bytes_, data_, bytes_, ACL_MEMCPY_DEVICE_TO_HOST),
              "aclrtMemcpy to the host");
        return values;
    }

private:
    void* data_ = nullptr;
    size_t bytes_;
    aclTensor* tensor_ = nullptr;
};

void Run() {
    constexpr int32_t DEVICE = 0;
    Check(aclInit(nullptr), "aclInit");
    const Finally finalize([] { return aclFinalize(); });
    Check(aclrtSetDevice(DEVICE), "aclrtSetDevice");
    const Finally resetDevice([] { return aclrtResetDevice(DEVICE); });
    aclrtStream stream = nullptr;
    Check(aclrtCreateStream(&stream), "aclrtCreateStream");
    const Finally destroyStream([stream] { return aclrtDestroyStream(stream); });

    const std::vector<int64_t> shape = {4, 2};
    DeviceTensor self(shape);
    DeviceTensor gradOutput(shape);
    DeviceTensor out(shape);
    self.CopyFrom({1, 1, 1, 2, 1, 2, 3, 3});
    gradOutput.CopyFrom({0, 1, 2, 3, 4, 5, 6, 7});
    float minValue = 1.2f;
    float maxValue = 2.4f;
    aclScalar* min = NotNull(aclCreateScalar(&minValue, ACL_FLOAT), "aclCreateScalar");
    const Finally destroyMin([min] { return aclDestroyScalar(min); });
    aclScalar* max = NotNull(aclCreateScalar(&maxValue, ACL_FLOAT), "aclCreateScalar");
    const Finally destroyMax([max] { return aclDestroyScalar(max); });

    uint64_t workspaceSize = 0;
    aclOpExecutor* executor = nullptr;
    Check(aclnnHardtanhBackwardGetWorkspaceSize(gradOutput.Get(), self.Get(), min, max, out.Get(),
                                                &workspaceSize, &executor),
          "aclnnHardtanhBackwardGetWorkspaceSize");
    void* workspace = nullptr;
    if (workspaceSize > 0) {
        Check(aclrtMalloc(&workspace, workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST),
              "aclrtMalloc of the workspace");
    }
    const Finally freeWorkspace([workspace] { return workspace == nullptr ? 0 : aclrtFree(workspace); });
    Check(aclnnHardtanhBackward(workspace, workspaceSize, executor, stream), "aclnnHardtanhBackward");
    Check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");

    for (const float value : out.ToHost()) {
        std::printf("%g ", value);
    }
    std::printf("\n");
}

}  // namespace

int main() {
    try {
        Run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "aclnn_hardtanh_backward: %s\n", error.what());
        return 1;
    }
    return 0;
}
