// Kinds of operators.
#ifndef OPDEV_OP_DEF_H
#define OPDEV_OP_DEF_H

#include "aclnn/aclnn_base.h"
#include "graph/ascend_string.h"

#endif
