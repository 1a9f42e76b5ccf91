// Arguments of a kernel as an operator's code lists them.
#ifndef OPDEV_OP_ARG_DEF_H
#define OPDEV_OP_ARG_DEF_H

#include <cstddef>
#include <type_traits>
#include <vector>

#include "opdev/common_types.h"

namespace op {

enum OpArgDef { OP_INPUT_ARG, OP_OUTPUT_ARG, OP_ATTR_ARG, OP_ARG_TYPE_NUM };
enum class OpArgType { OPARG_ACLTENSOR, OPARG_BOOL, OPARG_INT, OPARG_FLOAT, OPARG_DOUBLE };

struct OpArg {
    OpArgType type;
    union {
        const aclTensor* tensor;
        bool boolean;
        int64_t integer;
        float single;
        double real;
    };

    OpArg(const aclTensor* value) : type(OpArgType::OPARG_ACLTENSOR), tensor(value) {}
    OpArg(std::nullptr_t) : type(OpArgType::OPARG_ACLTENSOR), tensor(nullptr) {}
    OpArg(bool value) : type(OpArgType::OPARG_BOOL), boolean(value) {}
    OpArg(float value) : type(OpArgType::OPARG_FLOAT), single(value) {}
    OpArg(double value) : type(OpArgType::OPARG_DOUBLE), real(value) {}
    template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
    OpArg(T value) : type(OpArgType::OPARG_INT), integer(static_cast<int64_t>(value)) {}
};

struct OpArgList {
    OpArgDef kind;
    std::vector<OpArg> args;
};

template <OpArgDef Kind, typename... T>
OpArgList MakeOpArgList(const T&... args) {
    return {Kind, {OpArg(args)...}};
}

struct OpArgContext {
    std::vector<OpArg> lists[OP_ARG_TYPE_NUM];
    const std::vector<OpArg>& Get(OpArgDef kind) const { return lists[kind]; }
};

template <typename... Lists>
OpArgContext GetOpArgContext(const Lists&... lists) {
    OpArgContext context;
    ((context.lists[lists.kind] = lists.args), ...);
    return context;
}

}  // namespace op

#define OP_INPUT(x...) op::MakeOpArgList<op::OP_INPUT_ARG>(x)
#define OP_OUTPUT(x...) op::MakeOpArgList<op::OP_OUTPUT_ARG>(x)
#define OP_ATTR(x...) op::MakeOpArgList<op::OP_ATTR_ARG>(x)

#endif
