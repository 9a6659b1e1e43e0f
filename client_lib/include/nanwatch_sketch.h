/* nanwatch: digests and sketches of tensors, by which two runs are compared.
 * What they are is in proto/SKETCH.md. Of a tensor in one piece
 * nanwatch_observe has them; this is for parts of tensors, and for data. */

#ifndef NANWATCH_SKETCH_H_
#define NANWATCH_SKETCH_H_

#include <nanwatch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The digest and the sketch of a tensor, or of the part of it that was added.
 * The sums of shards are those of the whole: add both, member by member, in
 * any order, modulo 2^64. */
typedef struct nanwatch_sketch {
  uint64_t digest;
  double sums[NANWATCH_SKETCH_SUMS];
  /* Elements that are not in the sums. Counted with the sketch. */
  uint64_t nan;
  uint64_t inf;
} nanwatch_sketch;

static inline void nanwatch_sketch_init(nanwatch_sketch* sketch) {
  memset(sketch, 0, sizeof *sketch);
}

/* Adds `n` elements that lie at `data`, the first of which is number `first`
 * of its tensor in row-major order; for what of NANWATCH_OBSERVE_DIGEST and
 * NANWATCH_OBSERVE_SKETCH is in `what`. A digest is of bits: integers are given
 * as the dtype of as many bits (and have no sketch). Elements that are not
 * finite are counted, and are not in the sums. 1: done. 0: unknown dtype, or
 * NULL. */
NANWATCH_API int nanwatch_sketch_add(nanwatch_sketch* sketch, const void* data,
                                     size_t n, nanwatch_dtype dtype,
                                     unsigned what, uint64_t first);

/* The same for `rows` rows of `columns` elements: `row_stride` elements from
 * one row to the next in memory, `first_stride` in the numbers of the tensor. A
 * shard of columns, or a tensor that does not lie in one piece. */
NANWATCH_API int nanwatch_sketch_add_rows(nanwatch_sketch* sketch,
                                          const void* data, size_t rows,
                                          size_t columns, size_t row_stride,
                                          nanwatch_dtype dtype, unsigned what,
                                          uint64_t first,
                                          uint64_t first_stride);

/* Writes NANWATCH_SKETCH_SUMS floats, as nanwatch_op_status has them. */
NANWATCH_API void nanwatch_sketch_floats(const nanwatch_sketch* sketch,
                                         float* floats);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NANWATCH_SKETCH_H_ */
