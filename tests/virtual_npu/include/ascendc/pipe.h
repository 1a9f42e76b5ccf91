// TPipe, TQue, TBuf, flags and barriers.
#ifndef VNPU_ASCENDC_PIPE_H
#define VNPU_ASCENDC_PIPE_H

#include "ascendc/tensor.h"

namespace AscendC {

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
    static_assert(src != TPosition::VECCALC && dst != TPosition::VECCALC,
                  "a queue cannot lie in VECCALC: use TBuf");
    static_assert(depth > 0, "a queue of depth 0 (in-place tensors) is not offered here");

public:
    template <typename T>
    LocalTensor<T> AllocTensor() {
        return LocalTensor<T>(vnpu::device::QueueAlloc(queue_));
    }
    template <typename T>
    void FreeTensor(LocalTensor<T>& tensor) {
        vnpu::device::QueueFree(queue_, tensor.Place());
    }
    template <typename T>
    bool EnQue(const LocalTensor<T>& tensor) {
        vnpu::device::QueueEnQue(queue_, tensor.Place());
        return true;
    }
    template <typename T>
    LocalTensor<T> DeQue() {
        return LocalTensor<T>(vnpu::device::QueueDeQue(queue_));
    }
    bool VacantInQue() { return vnpu::device::QueueSize(queue_) < static_cast<uint32_t>(depth); }
    bool HasTensorInQue() { return vnpu::device::QueueSize(queue_) > 0; }
    int32_t GetTensorCountInQue() { return static_cast<int32_t>(vnpu::device::QueueSize(queue_)); }
    bool HasIdleBuffer() { return vnpu::device::QueueHasIdleBuffer(queue_); }

private:
    friend class TPipe;
    static constexpr bool isTQue = true;
    void Init(uint8_t num, uint32_t bytes) { queue_ = vnpu::device::QueueInit(src, dst, depth, num, bytes); }

    int32_t queue_ = -1;
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<pos == TPosition::VECIN ? TPosition::GM : pos,
                             pos == TPosition::VECIN ? TPosition::VECIN : TPosition::GM, depth, mask> {
    static_assert(pos == TPosition::VECIN || pos == TPosition::VECOUT, "a queue lies in VECIN or VECOUT");
};

template <TPosition pos>
class TBuf {
    static_assert(pos != TPosition::GM, "a TBuf lies in the unified buffer");

public:
    template <typename T>
    LocalTensor<T> Get() {
        return Get<T>(vnpu::device::BufferBytes(buffer_) / static_cast<uint32_t>(sizeof(T)));
    }
    template <typename T>
    LocalTensor<T> Get(uint32_t len) {
        return LocalTensor<T>(vnpu::device::BufferGet("TBuf::Get", buffer_, 0, uint64_t{len} * sizeof(T)));
    }
    template <typename T>
    LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset) {
        return LocalTensor<T>(
            vnpu::device::BufferGet("TBuf::GetWithOffset", buffer_, bufOffset, uint64_t{size} * sizeof(T)));
    }

private:
    friend class TPipe;
    static constexpr bool isTQue = false;

    int32_t buffer_ = -1;
};

class TPipe {
public:
    TPipe() { vnpu::device::PipeConstruct(); }
    ~TPipe() { vnpu::device::PipeDestroy(); }
    TPipe(const TPipe&) = delete;
    TPipe& operator=(const TPipe&) = delete;

    template <class T>
    bool InitBuffer(T& que, uint8_t num, uint32_t len) {
        static_assert(T::isTQue, "InitBuffer(que, num, len) takes a queue");
        que.Init(num, len);
        return true;
    }
    template <TPosition pos>
    bool InitBuffer(TBuf<pos>& buf, uint32_t len) {
        buf.buffer_ = vnpu::device::BufferInit(pos, len);
        return true;
    }
    template <HardEvent evt>
    TEventID AllocEventID() {
        return vnpu::device::AllocEvent(evt);
    }
    template <HardEvent evt>
    void ReleaseEventID(TEventID id) {
        vnpu::device::ReleaseEvent(evt, id);
    }
    template <HardEvent evt>
    TEventID FetchEventID() {
        return vnpu::device::FetchEvent(evt);
    }
    TEventID FetchEventID(HardEvent evt) { return vnpu::device::FetchEvent(evt); }
};

template <HardEvent event>
void SetFlag(int32_t eventID) {
    vnpu::device::SetFlag(event, eventID);
}

template <HardEvent event>
void WaitFlag(int32_t eventID) {
    vnpu::device::WaitFlag(event, eventID);
}

template <pipe_t pipe>
void PipeBarrier() {
    static_assert(pipe != PIPE_S, "PipeBarrier does not take PIPE_S");
    vnpu::device::Barrier(pipe);
}

inline int64_t GetBlockIdx() { return vnpu::device::BlockIdx(); }
inline int64_t GetBlockNum() { return vnpu::device::BlockNum(); }

}  // namespace AscendC

#endif
