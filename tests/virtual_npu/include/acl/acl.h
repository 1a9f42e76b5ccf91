/* AscendCL. */
#ifndef ACL_H
#define ACL_H

#include "acl/acl_rt.h"

#endif
