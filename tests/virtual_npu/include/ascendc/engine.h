// What the device headers ask of the engine. Every call belongs to the core that the calling thread executes;
// one that breaks a rule records the violation and leaves the kernel by an exception.
#ifndef VNPU_ASCENDC_ENGINE_H
#define VNPU_ASCENDC_ENGINE_H

#include <cstddef>
#include <cstdint>

#include "ascendc/types.h"

namespace vnpu::device {

enum class Type : uint8_t {
    Int8,
    UInt8,
    Int16,
    UInt16,
    Half,
    BFloat16,
    Int32,
    UInt32,
    Float,
    Int64,
    UInt64,
    Double
};

template <typename T>
constexpr Type TypeOf() {
    if constexpr (std::is_same_v<T, int8_t>) {
        return Type::Int8;
    } else if constexpr (std::is_same_v<T, uint8_t>) {
        return Type::UInt8;
    } else if constexpr (std::is_same_v<T, int16_t>) {
        return Type::Int16;
    } else if constexpr (std::is_same_v<T, uint16_t>) {
        return Type::UInt16;
    } else if constexpr (std::is_same_v<T, half>) {
        return Type::Half;
    } else if constexpr (std::is_same_v<T, bfloat16_t>) {
        return Type::BFloat16;
    } else if constexpr (std::is_same_v<T, int32_t>) {
        return Type::Int32;
    } else if constexpr (std::is_same_v<T, uint32_t>) {
        return Type::UInt32;
    } else if constexpr (std::is_same_v<T, float>) {
        return Type::Float;
    } else if constexpr (std::is_same_v<T, int64_t>) {
        return Type::Int64;
    } else if constexpr (std::is_same_v<T, uint64_t>) {
        return Type::UInt64;
    } else {
        static_assert(std::is_same_v<T, double>, "not an element type of a vector core");
        return Type::Double;
    }
}

// A range of the unified buffer as a LocalTensor sees it.
struct UbTensor {
    uint32_t address = 0;
    uint32_t bytes = 0;
    uint32_t generation = 0;  // of the buffer when it was allocated
    int32_t buffer = -1;      // index of the pipe's buffer, -1: none
    AscendC::TPosition position = AscendC::TPosition::VECCALC;
};

// A place in global memory as a GlobalTensor sees it; end is 0 when no size was given.
struct GmTensor {
    uint64_t address = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
};

// One copy instruction: blocks of blockBytes, with gaps between them.
struct Copy {
    uint32_t blocks = 1;
    uint32_t blockBytes = 0;
    uint32_t gmGapBytes = 0;
    uint32_t ubGapBlocks = 0;
    uint32_t elementBytes = 1;
    bool wrapped = false;    // a uint16_t parameter lost its upper bits
    bool padded = false;     // DataCopyPad: any byte length and GM address
    bool fill = false;       // isPad
    uint32_t left = 0;       // padding, elements
    uint32_t right = 0;      // padding, elements
    uint64_t fillValue = 0;  // pattern of one element
};

// Kernel entry.
int64_t BlockIdx();
int64_t BlockNum();
uint64_t TilingKey();
void SetKernelType(KernelMetaType type);
void CheckArguments(size_t count);  // the kernel's inputs, outputs and workspace
[[noreturn]] void UnknownTilingKey();
void FetchTiling(void* destination, size_t bytes, const uint8_t* tiling);

// Pipe, queues and buffers.
void PipeConstruct();
void PipeDestroy() noexcept;
int32_t QueueInit(AscendC::TPosition source, AscendC::TPosition destination, int32_t depth, uint8_t num,
                  uint32_t bytes);
UbTensor QueueAlloc(int32_t queue);
void QueueEnQue(int32_t queue, const UbTensor& tensor);
UbTensor QueueDeQue(int32_t queue);
void QueueFree(int32_t queue, const UbTensor& tensor);
uint32_t QueueSize(int32_t queue);  // tensors enqueued
bool QueueHasIdleBuffer(int32_t queue);
int32_t BufferInit(AscendC::TPosition position, uint32_t bytes);
UbTensor BufferGet(const char* call, int32_t buffer, uint32_t offset, uint64_t bytes);
uint32_t BufferBytes(int32_t buffer);

// Synchronisation.
AscendC::TEventID AllocEvent(AscendC::HardEvent event);
AscendC::TEventID FetchEvent(AscendC::HardEvent event);
void ReleaseEvent(AscendC::HardEvent event, AscendC::TEventID id);
void SetFlag(AscendC::HardEvent event, int32_t id);
void WaitFlag(AscendC::HardEvent event, int32_t id);
void Barrier(pipe_t pipe);

// Scalar access.
void Slice(const UbTensor& tensor, uint64_t offsetBytes);
void ReadUb(const UbTensor& tensor, uint64_t offsetBytes, void* value, uint32_t bytes);
void WriteUb(const UbTensor& tensor, uint64_t offsetBytes, const void* value, uint32_t bytes);
void ReadGm(const GmTensor& tensor, void* value, uint32_t bytes);
void WriteGm(const GmTensor& tensor, const void* value, uint32_t bytes);

// Copies.
void CopyIn(const char* call, const UbTensor& dst, const GmTensor& src, const Copy& copy);
void CopyOut(const char* call, const GmTensor& dst, const UbTensor& src, const Copy& copy);

// Vector instructions; scalars are passed by address.
enum class Bitwise : uint8_t { And, Or, Not };
void Cast(const UbTensor& dst, Type dstType, const UbTensor& src, Type srcType, AscendC::RoundMode mode,
          uint32_t count);
void CompareTensor(const UbTensor& dst, Type maskType, const UbTensor& src0, const UbTensor& src1, Type type,
                   AscendC::CMPMODE mode, uint32_t count);
void CompareScalar(const char* call, const UbTensor& dst, Type maskType, const UbTensor& src, Type type,
                   const void* scalar, AscendC::CMPMODE mode, uint32_t count);
void BitwiseTensor(Bitwise operation, const UbTensor& dst, const UbTensor& src0, const UbTensor& src1,
                   Type type, int32_t count);
void SelectTensor(const UbTensor& dst, const UbTensor& mask, Type maskType, const UbTensor& src0,
                  const UbTensor& src1, Type type, AscendC::SELMODE mode, uint32_t count);
void SelectScalar(const UbTensor& dst, const UbTensor& mask, Type maskType, const UbTensor& src0, Type type,
                  const void* scalar, AscendC::SELMODE mode, uint32_t count);
void DuplicateScalar(const UbTensor& dst, Type type, const void* scalar, int32_t count);
void MinScalar(const UbTensor& dst, const UbTensor& src, Type type, const void* scalar, int32_t count);
void MaxScalar(const UbTensor& dst, const UbTensor& src, Type type, const void* scalar, int32_t count);

}  // namespace vnpu::device

#endif
