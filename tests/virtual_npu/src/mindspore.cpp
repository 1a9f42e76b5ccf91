// What MindSpore's Ascend backend asks for beyond the AscendCL that programs use: the graph engine's
// registries, which it consults even when operators run one by one, and settings without meaning here.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "acl/acl.h"
#include "vnpu.h"

namespace ge {

// MindSpore's own copy of this class registers and looks up texts in the map.
class StatusFactory {
public:
    static StatusFactory* Instance();

private:
    std::map<uint32_t, std::string> texts_;
};

StatusFactory* StatusFactory::Instance() {
    static StatusFactory* const instance = new StatusFactory;
    return instance;
}

class Operator {
public:
    virtual ~Operator() = default;

private:
    std::shared_ptr<void> implementation_;
};

// Asked before an operator goes through aclopCompileAndExecuteV2, which reports what it cannot run.
class OperatorFactory {
public:
    static bool IsExistOp(const char* type);
    static bool IsExistOp(const std::string& type);
    static Operator CreateOperator(const char* name, const char* type);
    static Operator CreateOperator(const std::string& name, const std::string& type);
};

bool OperatorFactory::IsExistOp(const char*) { return true; }
bool OperatorFactory::IsExistOp(const std::string&) { return true; }
Operator OperatorFactory::CreateOperator(const char*, const char*) { return {}; }
Operator OperatorFactory::CreateOperator(const std::string&, const std::string&) { return {}; }

}  // namespace ge

// A channel from the device to the host through which nothing ever comes: MindSpore listens on several.
struct acltdtChannelHandle {
    std::mutex mutex;
    std::condition_variable changed;
    bool stopped = false;
};

struct acltdtDataset {};

extern "C" {

// The body of the generated stubs.
int vnpuNotSupported(const char* name) {
    vnpu::SetErrorMessage(std::string(name) + " is not part of the virtual NPU");
    std::fprintf(stderr, "virtual NPU: %s is not part of it\n", name);
    return ACL_ERROR_API_NOT_SUPPORT;
}

aclError aclrtCtxSetSysParamOpt(int, int64_t) { return ACL_SUCCESS; }
aclError aclrtSetDeviceSatMode(int) { return ACL_SUCCESS; }
aclError aclrtSetOpWaitTimeout(uint32_t) { return ACL_SUCCESS; }
aclError aclrtSetOpExecuteTimeOut(uint32_t) { return ACL_SUCCESS; }
aclError aclrtSetExceptionInfoCallback(void (*)(void*)) { return ACL_SUCCESS; }
// Nothing here needs memory of MindSpore's own pool.
void* aclrtAllocatorCreateDesc() { return new char; }
aclError aclrtAllocatorDestroyDesc(void* desc) {
    delete static_cast<char*>(desc);
    return ACL_SUCCESS;
}
aclError aclrtAllocatorSetObjToDesc(void*, void*) { return ACL_SUCCESS; }
aclError aclrtAllocatorSetAllocFuncToDesc(void*, void*) { return ACL_SUCCESS; }
aclError aclrtAllocatorSetFreeFuncToDesc(void*, void*) { return ACL_SUCCESS; }
aclError aclrtAllocatorSetAllocAdviseFuncToDesc(void*, void*) { return ACL_SUCCESS; }
aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(void*, void*) { return ACL_SUCCESS; }
aclError aclrtAllocatorRegister(aclrtStream, void*) { return ACL_SUCCESS; }
aclError aclrtAllocatorUnregister(aclrtStream) { return ACL_SUCCESS; }

// A memory pool of the executors', which here come from the heap.
int InitHugeMemThreadLocal(void*, bool) { return ACL_SUCCESS; }
void UnInitHugeMemThreadLocal(void*, bool) {}
void ReleaseHugeMem(void*, bool) {}

aclError aclSetCompileopt(int, const char*) { return ACL_SUCCESS; }
aclError HcclSetConfig(int, int64_t) { return ACL_SUCCESS; }

acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t, const char*, size_t) {
    return new acltdtChannelHandle;
}

aclError acltdtStopChannel(acltdtChannelHandle* handle) {
    std::lock_guard<std::mutex> lock(handle->mutex);
    handle->stopped = true;
    handle->changed.notify_all();
    return ACL_SUCCESS;
}

aclError acltdtCleanChannel(acltdtChannelHandle*) { return ACL_SUCCESS; }

aclError acltdtQueryChannelSize(const acltdtChannelHandle*, size_t* size) {
    *size = 0;
    return ACL_SUCCESS;
}

aclError acltdtDestroyChannel(acltdtChannelHandle* handle) {
    delete handle;
    return ACL_SUCCESS;
}

acltdtDataset* acltdtCreateDataset() { return new acltdtDataset; }

aclError acltdtDestroyDataset(acltdtDataset* dataset) {
    delete dataset;
    return ACL_SUCCESS;
}

// Waits for the whole timeout, given in milliseconds, since nothing comes.
aclError acltdtReceiveTensor(acltdtChannelHandle* handle, acltdtDataset*, int32_t timeout) {
    std::unique_lock<std::mutex> lock(handle->mutex);
    handle->changed.wait_for(lock, std::chrono::milliseconds(timeout), [handle] { return handle->stopped; });
    return ACL_ERROR_RT_QUEUE_EMPTY;
}

}  // extern "C"
