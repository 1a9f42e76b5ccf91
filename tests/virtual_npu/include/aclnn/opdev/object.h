// The base of what is handed out through the C interface.
#ifndef OPDEV_OBJECT_H
#define OPDEV_OBJECT_H

#include <cstddef>

namespace op {

class Object {
public:
    virtual ~Object() = default;
    void* operator new(size_t size);
    // The memory is used again late, so that a stale pointer does not find a new object at once.
    void operator delete(void* address);
};

}  // namespace op

#endif
