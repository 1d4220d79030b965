// The structs of DLPack 1.x, as its specification lays them out: two versions, told apart by the names of capsules.
#pragma once

#include <cstdint>

namespace dcpy {

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_ROCM = 10, DL_ROCM_HOST = 11 };
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };
constexpr uint64_t DL_READ_ONLY = 1, DL_COPIED = 2;

struct DLTensor {
    void *data;
    int32_t device_kind, device_number;
    int32_t rank;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *sizes;
    int64_t *strides;  // in elements; null: packed in C order
    uint64_t offset;   // in bytes
};

struct DLManaged {
    DLTensor tensor;
    void *context;
    void (*deleter)(DLManaged *);
};

struct DLVersioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(DLVersioned *);
    uint64_t flags;
    DLTensor tensor;
};

constexpr const char *OLD_NAME = "dltensor", *NEW_NAME = "dltensor_versioned";
constexpr const char *OLD_USED = "used_dltensor", *NEW_USED = "used_dltensor_versioned";

}  // namespace dcpy
