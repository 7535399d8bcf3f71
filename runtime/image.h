// The program image: all that the runtime must know about a compiled program, as
// position-independent plain data. Written by the compiler (passes/image.c), linked into the
// executable, read and validated by the runtime (runtime/image.c). Little-endian; offsets count
// from the start of the image, every record is 8-byte aligned. No pointers, no LLVM.
#ifndef TSPEC_RUNTIME_IMAGE_H
#define TSPEC_RUNTIME_IMAGE_H

#include <stdint.h>

#define TSPEC_IMAGE_MAGIC "TSPECIMG"
#define TSPEC_IMAGE_VERSION 3u

/// An array of records: byte offset and number of records. Offset 0: empty.
typedef struct tspec_image_span_t {
  uint32_t offset;
  uint32_t count;
} tspec_image_span_t;

/// Byte offset of a NUL-terminated string; 0: none.
typedef uint32_t tspec_image_string_t;

typedef struct tspec_image_axis_t {
  tspec_image_string_t name;
  uint32_t reserved;
  int64_t size;
} tspec_image_axis_t;

/// A mesh axis or a piece of one: the middle of (pre, size, rest), row-major.
typedef struct tspec_image_piece_t {
  int64_t axis;
  int64_t pre;
  int64_t size;
} tspec_image_piece_t;

typedef struct tspec_image_dim_t {
  int64_t size;              ///< elements of the whole dim
  tspec_image_span_t pieces; ///< tspec_image_piece_t, major first: blocks of ceil(size / k), the
                             ///< last ones short or empty
} tspec_image_dim_t;

/// A tensor and how it lies on the mesh. Blocks are dense and row-major with each rank's true
/// extents.
typedef struct tspec_image_tensor_t {
  uint32_t dtype; ///< tspec_dtype_t's order: f64 f32 bf16 f16 i64 i32 i16 i8 u8 bool
  uint32_t reserved;
  tspec_image_span_t dims; ///< tspec_image_dim_t
  tspec_image_span_t
      pending; ///< tspec_image_piece_t: every rank along these holds a partial result
} tspec_image_tensor_t;

/// Where a buffer lives.
enum {
  TSPEC_IMAGE_ARENA = 0, ///< `offset_bytes` into the entry's arena
  TSPEC_IMAGE_PARAM = 1, ///< the block of parameter `index`
};

typedef struct tspec_image_buffer_t {
  uint32_t tensor; ///< index into tensors
  uint32_t space;
  int64_t offset_bytes;   ///< arena
  int64_t index;          ///< param
  int64_t capacity_bytes; ///< the largest block
} tspec_image_buffer_t;

enum {
  TSPEC_IMAGE_INIT_FILL = 0,             ///< args: value
  TSPEC_IMAGE_INIT_NORMAL = 1,           ///< args: mean, stddev
  TSPEC_IMAGE_INIT_TRUNCATED_NORMAL = 2, ///< args: 0, stddev of the normal that is cut at 2 stddev
  TSPEC_IMAGE_INIT_UNIFORM = 3,          ///< args: lo, hi
};

typedef struct tspec_image_param_t {
  tspec_image_string_t path;
  uint32_t tensor;
  uint32_t is_state;
  uint32_t init;
  double args[2];
} tspec_image_param_t;

/// An input or a result of an entry, or a parameter that it updates.
typedef struct tspec_image_slot_t {
  tspec_image_string_t name;
  uint32_t buffer;
  int64_t
      param; ///< updates: index of the parameter that takes the buffer's value at the end; else -1
} tspec_image_slot_t;

enum {
  TSPEC_IMAGE_KERNEL = 0,
  TSPEC_IMAGE_GEMM = 1,
  TSPEC_IMAGE_COLLECTIVE = 2,
};

enum {
  TSPEC_IMAGE_ARG_EXTENT = 0, ///< this rank's extent of a buffer's dim
  TSPEC_IMAGE_ARG_OFFSET =
      1, ///< global index of the first element of this rank's block in that dim
  TSPEC_IMAGE_ARG_RANK_ON =
      2, ///< 1 if this rank is first along the pieces of `pieces`, else 0 (make_pending)
  TSPEC_IMAGE_ARG_ELEMS = 3, ///< product of this rank's extents of dims 0 to `dim` of a buffer
};

/// A number that a kernel gets, worked out once per rank at start.
typedef struct tspec_image_arg_t {
  uint32_t kind;
  uint32_t buffer;
  uint32_t dim;
  uint32_t reserved;
  tspec_image_span_t pieces;
} tspec_image_arg_t;

/// In order of tspec_image_step_t.collective.
enum {
  TSPEC_IMAGE_ALL_REDUCE = 0,
  TSPEC_IMAGE_ALL_GATHER = 1,
  TSPEC_IMAGE_REDUCE_SCATTER = 2,
  TSPEC_IMAGE_ALL_TO_ALL = 3,
  TSPEC_IMAGE_PERMUTE = 4,
  TSPEC_IMAGE_ALL_SLICE = 5,
};

/// Elements lo .. lo + count - 1 of a dim of the result are elements start, start + step, ... of an
/// operand.
typedef struct tspec_image_window_t {
  int64_t lo;
  int64_t start;
  int64_t step;
  int64_t count;
} tspec_image_window_t;

/// One step of an entry's fixed schedule.
typedef struct tspec_image_step_t {
  uint32_t kind;
  uint32_t function;          ///< kernel: index into the program's kernel table
  tspec_image_span_t buffers; ///< uint32_t. kernel: in the order of its pointers. gemm: lhs, rhs,
                              ///< out. collective: operands, then results: with windows one of
                              ///< all operands, else one of each; several only for all_reduce,
                              ///< all_gather and reduce_scatter
  tspec_image_span_t args;    ///< kernel: tspec_image_arg_t
  uint32_t range_arg; ///< kernel: which arg is the extent of the outer parallel range [begin, end);
                      ///< ~0u: none, 0..1
  // gemm: dims of lhs are [batch.., m.., k..] (transposed: [batch.., k.., m..]), of rhs [batch..,
  // k.., n..] (transposed: [batch.., n.., k..]), of out [batch.., m.., n..]; the counts say how
  // many dims each group has.
  uint32_t nbatch, nm, nn, nk;
  uint32_t lhs_transposed, rhs_transposed;
  // collective
  uint32_t collective;
  uint32_t reduce;            ///< sum max min prod all any
  uint32_t fills;             ///< 1: elements of the result that no operand shows are `fill`
  tspec_image_span_t axes;    ///< tspec_image_piece_t: the communicator
  tspec_image_span_t windows; ///< tspec_image_window_t, per operand and dim: permute and all_slice
                              ///< that put parts of operands together; none: the result is the
                              ///< operand
  double fill;
  int64_t predicted_bytes;    ///< sent by the rank that sends most, ring convention
  tspec_image_string_t what;  ///< "dot", "all_reduce for 'dot'"
  tspec_image_string_t where; ///< "gpt.tspec:9"
} tspec_image_step_t;

typedef struct tspec_image_entry_t {
  tspec_image_string_t name;
  uint32_t reserved;
  int64_t arena_bytes;
  tspec_image_span_t inputs;  ///< tspec_image_slot_t
  tspec_image_span_t results; ///< tspec_image_slot_t
  tspec_image_span_t updates; ///< tspec_image_slot_t
  tspec_image_span_t
      buffers; ///< tspec_image_buffer_t; indices in slots and steps are into this entry's buffers
  tspec_image_span_t steps; ///< tspec_image_step_t
} tspec_image_entry_t;

/// The image starts with this.
typedef struct tspec_image_t {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  uint64_t size_bytes;       ///< of the whole image
  uint64_t schedule_hash;    ///< of every entry's steps: compared between ranks at start
  tspec_image_string_t name; ///< program name
  tspec_image_string_t cpu;  ///< what it was compiled for, "x86-64-v3"
  tspec_image_string_t
      features; ///< CPU features that the code may use, comma-separated LLVM names ("avx2,fma")
  tspec_image_string_t compiler; ///< "tspecc 0.1.0"
  tspec_image_span_t axes;       ///< tspec_image_axis_t, major first
  tspec_image_span_t tensors;    ///< tspec_image_tensor_t
  tspec_image_span_t params;     ///< tspec_image_param_t
  tspec_image_span_t entries;    ///< tspec_image_entry_t
} tspec_image_t;

/// A compiled kernel: `buffers` as its step lists them, `args` resolved, the outer range [begin,
/// end).
typedef void (*tspec_kernel_fn_t)(void *const *buffers, const int64_t *args, int64_t begin,
                                  int64_t end);

/// What a compiled object defines under the name `tspec_program` (with --emit=obj:
/// `tspec_program_NAME`).
typedef struct tspec_compiled_t {
  const tspec_image_t *image;
  const tspec_kernel_fn_t *kernels;
  uint64_t nkernels;
} tspec_compiled_t;

#endif
