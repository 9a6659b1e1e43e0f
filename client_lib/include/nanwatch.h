/* nanwatch.h: tell nanwatchd, while a training runs, how its numbers are.
 *
 *   nanwatch_run_options options;
 *   nanwatch_run_options_init(&options);
 *   options.job = "word2vec";
 *   nanwatch_session* session = nanwatch_open(&options);
 *   for (...) {
 *     nanwatch_step step;
 *     nanwatch_step_init(&step, i);
 *     step.loss = loss;
 *     step.present |= NANWATCH_STEP_LOSS;
 *     nanwatch_push_step(session, &step);
 *   }
 *   nanwatch_close(session, 2000);
 *
 * Conventions, for everything below:
 *
 * What never happens. No call blocks (flush and close wait as long as they
 * are told, no longer), throws, prints, aborts, raises or waits for a signal,
 * or changes the environment or a signal handler. When nanwatchd is missing,
 * slow, hung or restarted, records wait in bounded memory; what does not fit
 * is dropped, counted, and the daemon is told how much. gRPC's log is off for
 * the process unless GRPC_VERBOSITY is set.
 *
 * Handles. nanwatch_open gives a session; nanwatch_close takes it back, after
 * which it must not be used. Every function takes NULL for a session and then
 * does nothing, so a failed nanwatch_open needs no check.
 *
 * Ownership. Structs and everything they point to belong to the caller and are
 * copied before a function returns.
 *
 * Threads. Pushes of one session (step, op) come from one thread at a time. A
 * push that meets another one in progress is dropped and counted as dropped;
 * nothing breaks. Everything else may be called from any thread, except that
 * nobody may use a session that is being closed.
 *
 * fork. In a child process the sessions of its parent are silent: every call
 * returns at once and does nothing. A child of a process that had opened a
 * session can open only silent ones, since gRPC does not survive fork; exec
 * makes all new. A process that exits without nanwatch_close is given up to
 * a second to send what it has; its rank then counts as lost, not as closed.
 *
 * Presence. A number counts only when its bit in `present` is set: absent is
 * not 0, and NaN and infinities are values like any other.
 *
 * Growth. Structs that may grow begin with `struct_size`, which the _init
 * functions set and which is never changed by hand; a library newer or older
 * than the program reads what both know.
 *
 * Units. Times are Unix microseconds, waits milliseconds. Step numbers are
 * updates as the framework counts them and may repeat: each push is one update,
 * applied or skipped. Gradient norms are unscaled, before clipping. Fractions
 * are 0 to 1. Strings are UTF-8, at most 512 bytes, longer ones are cut.
 */

#ifndef NANWATCH_H_
#define NANWATCH_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NANWATCH_API __attribute__((visibility("default")))
#else
#define NANWATCH_API
#endif

/* "0.1.0" */
NANWATCH_API const char* nanwatch_version(void);

/* ------------------------------------------------------------------ the run */
typedef struct nanwatch_session nanwatch_session;

typedef enum nanwatch_overflow_mode {
  NANWATCH_OVERFLOW_MODE_UNKNOWN = 0,
  NANWATCH_OVERFLOW_MODE_INF_NAN = 1,
  /* Results clamp to +-max and NaN to 0; only the float status tells. */
  NANWATCH_OVERFLOW_MODE_SATURATION = 2
} nanwatch_overflow_mode;

typedef enum nanwatch_scaling {
  NANWATCH_SCALING_UNKNOWN = 0,
  NANWATCH_SCALING_NONE = 1,
  NANWATCH_SCALING_STATIC = 2,
  NANWATCH_SCALING_DYNAMIC = 3,
  NANWATCH_SCALING_LAYERWISE = 4
} nanwatch_scaling;

/* Bits of nanwatch_scaler::present. */
#define NANWATCH_SCALER_INIT_SCALE (1u << 0)
#define NANWATCH_SCALER_GROWTH_FACTOR (1u << 1)
#define NANWATCH_SCALER_BACKOFF_FACTOR (1u << 2)
#define NANWATCH_SCALER_GROWTH_INTERVAL (1u << 3)
#define NANWATCH_SCALER_HYSTERESIS (1u << 4)
#define NANWATCH_SCALER_MIN_SCALE (1u << 5)
#define NANWATCH_SCALER_MAX_SCALE (1u << 6)
#define NANWATCH_SCALER_OVERFLOW_CHECK (1u << 7)

/* The loss scaler that the training declares. What is not present is the
 * named scaler's own default. Lies inside nanwatch_run_options. */
typedef struct nanwatch_scaler {
  nanwatch_scaling kind;
  uint32_t present;
  const char* name; /* "pytorch", "megatron", "ascend_tf", ...; or NULL */
  double init_scale;
  double growth_factor;
  double backoff_factor;
  int64_t growth_interval; /* updates */
  int64_t hysteresis;      /* overflows until the scale falls */
  double min_scale;
  double max_scale;
  int32_t overflow_check; /* 0: an overflowing step is applied all the same */
  int32_t reserved;
} nanwatch_scaler;

/* A setting that bears on precision, e.g. {"apex.opt_level", "O2"}. */
typedef struct nanwatch_setting {
  const char* key;
  const char* value;
} nanwatch_setting;

/* Bits of nanwatch_run_options::present. */
#define NANWATCH_RUN_ATTEMPT (1u << 0)
#define NANWATCH_RUN_RANK (1u << 1)
#define NANWATCH_RUN_LOCAL_RANK (1u << 2)
#define NANWATCH_RUN_WORLD_SIZE (1u << 3)
#define NANWATCH_RUN_CLIP_NORM (1u << 4)
#define NANWATCH_RUN_SEED (1u << 5)

/* NULL, and numbers without their bit, mean "find it out or leave it open". */
typedef struct nanwatch_run_options {
  uint32_t struct_size;
  uint32_t present;

  /* "unix:/path", "host:port", "tls://host:port". NULL:
   * NANWATCH_ADDRESS, then $XDG_RUNTIME_DIR/nanwatch/ingest.sock, then
   * /tmp/nanwatch-UID/ingest.sock if that folder is this user's own and nobody
   * else's to write to (not as root), then /run/nanwatch/ingest.sock. */
  const char* address;

  /* Who this is. NULL run_id: NANWATCH_RUN_ID, TORCHELASTIC_RUN_ID (unless
   * "none"), the Slurm job and step, MASTER_ADDR:PORT, MS_SCHED_HOST:PORT,
   * PADDLE_MASTER, the coordinator or the first host of TPUs, in this order;
   * else the daemon makes one. NULL job: NANWATCH_JOB. Rank, local rank, world
   * size: what torchrun, Paddle, Open MPI, MVAPICH2, a PMI launcher, MindSpore,
   * Slurm, PMIx (no size) or a TPU VM put there, else 0, 0 and 1. */
  const char* job;
  const char* run_id;
  int32_t attempt;
  int32_t rank;
  int32_t local_rank;
  int32_t world_size;

  /* What is trained, and how. */
  const char* framework; /* "pytorch 2.1", "mindspore", ... */
  const char* precision; /* "fp16", "bf16", "fp8", "fp32", ... */
  nanwatch_overflow_mode overflow_mode;
  int32_t reserved;
  nanwatch_scaler scaler;
  double clip_norm;
  int64_t seed;
  const nanwatch_setting* settings; /* at most 64 */
  size_t settings_count;

  /* Where this rank runs, and its place in each parallel group (0 where a
   * dimension is not used). NULL host: gethostname(). */
  const char* host;
  const char* device;    /* "Ascend910B", "NVIDIA H200", ... */
  const char* device_id; /* "npu:3", "GPU-2f6e...", ... */
  int32_t dp, tp, pp, ep, cp;
  int32_t reserved2;

  /* Bytes of the ring between the training thread and the sender; a power of
   * two is made of it, 4 KiB to 256 MiB. 0: 4 MiB, room for some 20,000
   * records. */
  size_t ring_bytes;
  /* Bytes kept until the daemon acknowledges them. 0: 64 MiB. */
  size_t unacked_bytes;
} nanwatch_run_options;

static inline void nanwatch_run_options_init(nanwatch_run_options* options) {
  memset(options, 0, sizeof *options);
  options->struct_size = (uint32_t)sizeof *options;
}

/* Opens a session of one rank and returns at once; a thread of its own finds
 * the daemon. NULL `options`: all by default. Returns NULL when memory or
 * threads are short. */
NANWATCH_API nanwatch_session* nanwatch_open(
    const nanwatch_run_options* options);

/* Waits until everything pushed so far is acknowledged or dropped, at most
 * `timeout_ms`. 1: it is. 0: not in time. */
NANWATCH_API int nanwatch_flush(nanwatch_session* session, int timeout_ms);

/* Flushes like nanwatch_flush, tells the daemon that this rank ended, and frees
 * the session. Takes at most `timeout_ms` and a few milliseconds, whatever the
 * daemon does. 1: everything was acknowledged. 0: not. */
NANWATCH_API int nanwatch_close(nanwatch_session* session, int timeout_ms);

/* -------------------------------------------------------------------- steps */
/* Bits of nanwatch_step::present. */
#define NANWATCH_STEP_LOSS (1u << 0)
#define NANWATCH_STEP_LOSS_SCALE (1u << 1)
#define NANWATCH_STEP_GRAD_NORM (1u << 2)
#define NANWATCH_STEP_UPDATE_NORM (1u << 3)
#define NANWATCH_STEP_PARAM_NORM (1u << 4)
#define NANWATCH_STEP_LEARNING_RATE (1u << 5)
#define NANWATCH_STEP_ZERO_FRACTION (1u << 6)
#define NANWATCH_STEP_UNDERFLOW_FRACTION (1u << 7)
#define NANWATCH_STEP_CONSUMED_SAMPLES (1u << 8)
#define NANWATCH_STEP_OVERFLOW (1u << 9)
#define NANWATCH_STEP_SKIPPED (1u << 10)
#define NANWATCH_STEP_FLOAT_STATUS (1u << 11)
#define NANWATCH_STEP_REPLICA_DIGEST (1u << 12)
#define NANWATCH_STEP_APPLIED_GRAD_NORM (1u << 13)
#define NANWATCH_STEP_BATCH_DIGEST (1u << 14)

/* The loss scale of one op's layer. */
typedef struct nanwatch_layer_scale {
  int32_t op; /* of nanwatch_op_register */
  int32_t reserved;
  double scale;
} nanwatch_layer_scale;

/* One update of this rank, applied or skipped. */
typedef struct nanwatch_step {
  uint32_t struct_size;
  uint32_t present;
  int64_t step;
  int64_t time_us; /* 0: now, to a few milliseconds */
  double loss;
  double loss_scale;
  double grad_norm;
  double update_norm;
  double param_norm;
  double learning_rate;
  double zero_fraction;      /* of gradient elements */
  double underflow_fraction; /* of gradient elements */
  double consumed_samples;
  uint8_t overflow; /* the framework found Inf or NaN, or the device flag */
  uint8_t skipped;  /* the optimizer did not apply the update */
  uint8_t float_status_words;    /* 1 or 8 */
  uint8_t float_status_combined; /* already reduced over the ranks */
  int32_t optimizer; /* of nanwatch_optimizer_register; 0: the only one */
  int32_t float_status[8];
  uint64_t replica_digest;
  /* At most 4096, of a layer-wise scaler; or NULL. */
  const nanwatch_layer_scale* layer_scales;
  size_t layer_scales_count;
  uint64_t request_id;      /* of nanwatch_request, if this answers one */
  double applied_grad_norm; /* of what the optimizer got, after clipping */
  uint64_t batch_digest;    /* of the data trained on: nanwatch_sketch_add */
} nanwatch_step;

static inline void nanwatch_step_init(nanwatch_step* record, int64_t step) {
  memset(record, 0, sizeof *record);
  record->struct_size = (uint32_t)sizeof *record;
  record->step = step;
}

/* Names an optimizer of a run that has several (GAN, RL); at most 7. Returns
 * what goes into nanwatch_step::optimizer, 0 when there are too many. */
NANWATCH_API int32_t nanwatch_optimizer_register(nanwatch_session* session,
                                                 const char* name);

/* Copies `step` to the ring: some tens of nanoseconds, no lock, no system
 * call. A record whose step is beyond 0 .. 2^53, whose time lies beyond the
 * years 1970 .. 9999, whose optimizer nobody registered, whose float status has
 * neither 1 nor 8 words or whose fraction is beyond 0 .. 1, is left out alone:
 * see nanwatch_stats::refused. */
NANWATCH_API void nanwatch_push_step(nanwatch_session* session,
                                     const nanwatch_step* step);

/* ---------------------------------------------------------------------- ops */
typedef enum nanwatch_dtype {
  NANWATCH_DTYPE_UNKNOWN = 0,
  NANWATCH_FP64 = 1,
  NANWATCH_FP32 = 2,
  NANWATCH_FP16 = 3,
  NANWATCH_BF16 = 4,
  NANWATCH_FP8_E4M3 = 5, /* OCP e4m3fn: no infinities, largest 448 */
  NANWATCH_FP8_E5M2 = 6  /* largest 57344 */
} nanwatch_dtype;

typedef enum nanwatch_slot {
  NANWATCH_SLOT_UNKNOWN = 0, /* reads as output */
  NANWATCH_SLOT_INPUT = 1,
  NANWATCH_SLOT_OUTPUT = 2,
  NANWATCH_SLOT_GRAD_INPUT = 3,  /* gradient with respect to the op's input */
  NANWATCH_SLOT_GRAD_OUTPUT = 4, /* gradient arriving at the op's output */
  NANWATCH_SLOT_PARAMETER = 5,
  NANWATCH_SLOT_OPTIMIZER_STATE = 6,
  NANWATCH_SLOT_COLLECTIVE = 7
} nanwatch_slot;

/* What is said once of an op. Shapes have at most 16 dimensions. */
typedef struct nanwatch_op {
  uint32_t struct_size;
  nanwatch_dtype dtype;
  const char* name;        /* "encoder.layers.3.fc1", "loss/Log" */
  const char* type;        /* "Linear", "Log"; or NULL */
  const char* data_format; /* "ND", "FRACTAL_NZ"; or NULL */
  const int64_t* logical_shape;
  size_t logical_dims;
  /* What memory holds, padding included; NULL: as logical_shape. */
  const int64_t* storage_shape;
  size_t storage_dims;
  int32_t order; /* place in the execution order, from 0; -1: unknown */
  int32_t part;  /* 1: of a tensor that ranks hold in parts: proto/SKETCH.md */
} nanwatch_op;

static inline void nanwatch_op_init(nanwatch_op* op, const char* name) {
  memset(op, 0, sizeof *op);
  op->struct_size = (uint32_t)sizeof *op;
  op->name = name;
  op->order = -1;
}

/* Makes an op known and returns its index, -1 when it could not (no name, an
 * impossible shape, 65,536 ops a session); nanwatch_stats::error says why. Not
 * for the inner loop: it locks and allocates. An op whose shape
 * or dtype changes is registered again. */
NANWATCH_API int32_t nanwatch_op_register(nanwatch_session* session,
                                          const nanwatch_op* op);

/* Bits of nanwatch_op_status::present. */
#define NANWATCH_OP_NAN (1u << 0)
#define NANWATCH_OP_POS_INF (1u << 1)
#define NANWATCH_OP_NEG_INF (1u << 2)
#define NANWATCH_OP_SATURATED (1u << 3)
#define NANWATCH_OP_ZERO (1u << 4)
#define NANWATCH_OP_SUBNORMAL (1u << 5)
#define NANWATCH_OP_MIN (1u << 6)
#define NANWATCH_OP_MAX (1u << 7)
#define NANWATCH_OP_ABS_MAX (1u << 8)
#define NANWATCH_OP_MEAN (1u << 9)
#define NANWATCH_OP_RMS (1u << 10)
#define NANWATCH_OP_LOG2_MEAN (1u << 11)
#define NANWATCH_OP_LOG2_STD (1u << 12)
#define NANWATCH_OP_FP8_AMAX (1u << 13)
#define NANWATCH_OP_FP8_SCALE_INV (1u << 14)
#define NANWATCH_OP_DEVICE_FLAG (1u << 15)
#define NANWATCH_OP_DIGEST (1u << 16)
/* Not set: the status covers the op's storage shape. */
#define NANWATCH_OP_ELEMENTS (1u << 17)

/* fp64 reaches from 2^-1074 to 2^1023. */
#define NANWATCH_EXPONENT_BINS 2098
#define NANWATCH_SKETCH_SUMS 16

/* Finite non-zero elements a binary exponent: counts[i] of them have
 * floor(log2|x|) == first + i; `size` counts are meant. */
typedef struct nanwatch_exponents {
  int32_t first;
  uint32_t size;
  uint64_t counts[NANWATCH_EXPONENT_BINS];
} nanwatch_exponents;

/* What this rank says of one tensor of one op at one step. Statistics are of
 * finite elements; those of log2|x| of finite non-zero ones. */
typedef struct nanwatch_op_status {
  uint32_t struct_size;
  uint32_t present;
  int64_t step;
  int64_t time_us; /* 0: now, to a few milliseconds */
  /* Of nanwatch_op_register; -1: this record is ignored, or counted as dropped
   * once an op was one too many. */
  int32_t op;
  nanwatch_slot slot;
  uint64_t elements; /* 0: none, so nothing may be counted */
  uint64_t nan;
  uint64_t pos_inf;
  uint64_t neg_inf;
  uint64_t saturated; /* finite and exactly +-max of the dtype */
  uint64_t zero;
  uint64_t subnormal;
  float min;
  float max;
  float abs_max;
  float mean;
  float rms;
  float log2_mean;
  float log2_std;
  float fp8_amax;
  float fp8_scale_inv;
  uint32_t device_flag; /* word 0 of the float status around the op */
  uint64_t digest;
  uint64_t request_id; /* of nanwatch_request, if this answers one */
  /* The caller's, or NULL: none. nanwatch_observe writes to it. */
  nanwatch_exponents* exponents;
  float* sketch; /* NANWATCH_SKETCH_SUMS, as exponents; of gradients unscaled */
} nanwatch_op_status;

static inline void nanwatch_op_status_init(nanwatch_op_status* status,
                                           int64_t step, int32_t op,
                                           nanwatch_slot slot) {
  memset(status, 0, sizeof *status);
  status->struct_size = (uint32_t)sizeof *status;
  status->step = step;
  status->op = op;
  status->slot = slot;
}

/* Copies `status` to the ring, as nanwatch_push_step does. The statuses of a
 * step are pushed before the step itself: so the verdict on it can name ops. A
 * status whose counts are together more than its elements (those of the op's
 * storage shape, without NANWATCH_OP_ELEMENTS), or with exponents beyond
 * fp64's, is left out alone: see nanwatch_stats::refused. */
NANWATCH_API void nanwatch_push_op(nanwatch_session* session,
                                   const nanwatch_op_status* status);

/* What nanwatch_observe computes. Each costs a little more. */
#define NANWATCH_OBSERVE_COUNTS (1u << 0) /* the six counts, and abs_max */
#define NANWATCH_OBSERVE_RMS (1u << 1)
#define NANWATCH_OBSERVE_RANGE (1u << 2) /* min, max, mean */
#define NANWATCH_OBSERVE_LOG2 (1u << 3)  /* mean and deviation of log2|x| */
/* Into *out->exponents, where that is not NULL. */
#define NANWATCH_OBSERVE_EXPONENTS (1u << 4)
#define NANWATCH_OBSERVE_ALL 31u
#define NANWATCH_OBSERVE_DIGEST (1u << 5) /* not in _ALL: nanwatch_sketch.h */
#define NANWATCH_OBSERVE_SKETCH (1u << 6) /* into *out->sketch */

/* Reads `n` elements of `dtype` at `data` and writes what was asked for to
 * `out`, with its presence bits; the rest of `out` stays. Statistics over no
 * element at all are not set. Runs on the calling thread near the speed of
 * memory. `data` needs no alignment. Counts, min, max, abs_max and exponents
 * are exact; rms is within 1e-5 of itself, mean within 1e-5 of rms, log2_mean
 * within 1e-4, log2_std within 4e-3. What of fp64 no float holds becomes the
 * largest float. 1: done. 0: unknown dtype, or NULL. */
NANWATCH_API int nanwatch_observe(const void* data, size_t n,
                                  nanwatch_dtype dtype, unsigned what,
                                  nanwatch_op_status* out);

/* ----------------------------------------------------------------- requests */
typedef enum nanwatch_request_kind {
  NANWATCH_REQUEST_NONE = 0,
  NANWATCH_REQUEST_COLLECT_OPS = 1, /* push the statuses of these ops */
  NANWATCH_REQUEST_STOP = 2         /* somebody asks this training to stop */
} nanwatch_request_kind;

#define NANWATCH_REQUEST_OPS 64

typedef struct nanwatch_request {
  uint32_t struct_size;
  nanwatch_request_kind kind;
  uint64_t id; /* goes into the records that answer */
  int64_t expires_at_step;
  uint32_t steps;     /* collect for so many steps */
  uint32_t ops_count; /* 0: all ops */
  int32_t ops[NANWATCH_REQUEST_OPS];
  char reason[256]; /* of a stop */
} nanwatch_request;

static inline void nanwatch_request_init(nanwatch_request* request) {
  memset(request, 0, sizeof *request);
  request->struct_size = (uint32_t)sizeof *request;
}

/* Takes the oldest request that waits; nothing is forced on a training, it
 * asks when it likes, e.g. once a step (a nanosecond when there is none).
 * `request` comes from nanwatch_request_init. 1: there was one. 0: none. */
NANWATCH_API int nanwatch_poll(nanwatch_session* session,
                               nanwatch_request* request);

/* -------------------------------------------------------------------- stats */
typedef struct nanwatch_stats {
  uint32_t struct_size;
  int32_t connected; /* the daemon answered the handshake */
  uint64_t pushed;   /* records, steps and ops together, as all below */
  uint64_t sent;     /* at least once */
  uint64_t acked;
  uint64_t dropped; /* ring full, too old to resend, or refused */
  /* The part of `dropped` that the daemon refused, or that it would have
   * refused a whole batch for: that one was not sent, the others were, and
   * `error` says what was wrong. */
  uint64_t refused;
  uint64_t reconnects;
  /* As the daemon counts; 0 until it answered. Steps that go back begin another
   * one: told with the ack of the step that did. */
  int32_t attempt;
  int32_t reserved;
  char run_id[512]; /* as the daemon knows it; empty until it answered */
  /* The newest trouble, a sentence; empty: none. Of the connection first, also
   * of a daemon that owes an answer for a second; then of what was pushed or
   * registered and could not be taken. */
  char error[256];
  /* The part of `acked` that the daemon judged but could not keep (its history
   * is off, or its disk full): gone when it restarts. */
  uint64_t not_durable;
} nanwatch_stats;

static inline void nanwatch_stats_init(nanwatch_stats* stats) {
  memset(stats, 0, sizeof *stats);
  stats->struct_size = (uint32_t)sizeof *stats;
}

/* `stats` comes from nanwatch_stats_init. Of a NULL session: zeros. */
NANWATCH_API void nanwatch_get_stats(const nanwatch_session* session,
                                     nanwatch_stats* stats);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* NANWATCH_H_ */
