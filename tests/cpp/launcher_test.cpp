// What the launcher refuses in phase 1: operators of the package in fixture_operators.cpp.
#include <cstdlib>
#include <string>

#include "acl/acl.h"
#include "check.h"
#include "host.h"
#include "opdev/make_op_executor.h"

namespace {

// Before the first look into the environment. FIXTURES is the package's directory.
const int kEnvironment = setenv("ASCEND_CUSTOM_OPP_PATH", FIXTURES, 1);

// Workspace of the operator, or -1 and the error in the text.
int64_t Launch(const char* type, aclDataType dataType, std::string& error) {
    vnpu::CallErrors().clear();
    UniqueExecutor executor("test");
    const int64_t dims[] = {8};
    aclTensor* const tensor = aclCreateTensor(dims, 1, dataType, nullptr, 0, ACL_FORMAT_ND, dims, 1, nullptr);
    const aclTensor* const x = tensor;
    const aclTensor* const y = executor->AllocTensor({8}, x->GetDataType());
    const aclnnStatus status = CreatAiCoreKernelLauncher(type, op::GenOpTypeId(type), executor.get(),
                                                         op::GetOpArgContext(OP_INPUT(x), OP_OUTPUT(y)));
    CHECK(status == 0 || status == ACLNN_ERR_INNER);
    error = vnpu::CallErrors();
    const int64_t workspace = status == 0 ? static_cast<int64_t>(executor->GetWorkspaceSize()) : -1;
    CHECK_EQ(aclDestroyTensor(tensor), 0);
    return workspace;
}

void CheckRefused(const char* type, const std::string& reason, aclDataType dataType = ACL_FLOAT) {
    std::string error;
    CHECK_EQ(Launch(type, dataType, error), -1);
    if (error.find(reason) == std::string::npos) CHECK_EQ(error, reason);
}

}  // namespace

TEST(good_operators) {
    CHECK_EQ(kEnvironment, 0);
    std::string error;
    CHECK_EQ(Launch("Good", ACL_FLOAT, error), 512);  // its result alone
    CHECK_EQ(Launch("WithWorkspace", ACL_FLOAT, error), 512 + 1536);
    CHECK_EQ(error, "");
}

TEST(tilings) {
    CheckRefused("WithoutKey", "561002");
    CheckRefused("WithoutKey", "no tiling key or no block dim");
    CheckRefused("WithoutBlocks", "no tiling key or no block dim");
    CheckRefused("ForNoCore", "no tiling key or no block dim");
    CheckRefused("WithoutWorkspaceSize", "a workspace without a size");
    CheckRefused("WithTwoWorkspaces", "or for several");
    CheckRefused("TooMuch", "its tiling function failed");
    CheckRefused("Refusing", "its tiling function failed");
    CheckRefused("WithoutTiling", "no vendor package has a tiling library with its function");
    CheckRefused("WithoutParse", "its tiling parse function failed");
}

TEST(kernels) {
    CheckRefused("WithoutKernel", "561112");
    CheckRefused("Good", "561003", ACL_FLOAT16);
    CheckRefused("Good", "no kernel takes the inputs DT_BF16", ACL_BF16);
}

TEST(definitions) {
    CheckRefused("Uneven", "the lists of x differ in length");
    CheckRefused("OfAnotherSoc", "it is not defined for ascend910b");
}
