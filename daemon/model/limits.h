// Every bound of the daemon, with its arithmetic and what happens there. The
// metric nanwatch_limit_hits_total{limit=...} counts each by the name given.

#ifndef NANWATCH_MODEL_LIMITS_H_
#define NANWATCH_MODEL_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace nanwatch::limits {

// --- One message from a client -------------------------------------------
// A full StepBatch of kStepsPerBatch with every column is
// 4096 x ~110 B = 450 KB, a full OpBatch 16384 x ~60 B = 1 MB.
// Beyond: refused ("message_bytes").
inline constexpr size_t kMessageBytes = 4 << 20;
// What gRPC takes as one message at all, so that ours of some more than
// kMessageBytes are refused with a sentence. Beyond: gRPC ends the stream.
inline constexpr int kGrpcMessageBytes = 16 << 20;
// Beyond: the batch is refused, INVALID ("batch_records").
inline constexpr size_t kStepsPerBatch = 4096;
inline constexpr size_t kOpsPerBatch = 16384;
// run id, job, host, op names, settings. Beyond: refused ("string_bytes").
inline constexpr size_t kNameBytes = 512;
inline constexpr size_t kSettings = 64;
inline constexpr size_t kSettingBytes = 1024;
inline constexpr size_t kShapeDims = 16;
// Patterns of engine.masked_ops, kNameBytes each. Beyond: the configuration is
// refused.
inline constexpr size_t kMaskedOps = 64;
// GAN and RL runs have 2 to 4. Beyond: refused ("optimizers").
inline constexpr size_t kOptimizersPerRank = 8;
// Times that the steps of one batch may go back: each makes a new attempt.
// Beyond: refused, INVALID.
inline constexpr int kAttemptsPerBatch = 4;
// That a client may name. Beyond, its opening is refused: the daemon counts on
// from there, each time that steps go back, and never gets to 2^31.
inline constexpr int32_t kAttemptMax = 1'000'000'000;
// Layer-wise scales in one batch. Beyond: refused ("layer_scales").
inline constexpr size_t kLayerScalesPerBatch = 65536;

// --- One client -----------------------------------------------------------
// A 100 B entry each: 6.4 MB. A model of 100k ops samples. Beyond: the names
// are refused ("ops_per_session"); statuses of known ops go on.
inline constexpr size_t kOpsPerSession = 65536;
// A relay or `tail` carries many ranks. Beyond: refused
// ("sessions_per_stream").
inline constexpr size_t kSessionsPerStream = 8192;
// A connection each, where each rank has its own. Beyond: refused ("streams").
inline constexpr size_t kStreams = 8192;
// Files that may be open: the streams' and as many as a daemon has beside them.
inline constexpr size_t kOpenFiles = kStreams + 512;
// What gRPC holds for all connections: 51 KB each, 420 MB for kStreams, and
// messages until they are whole, whose size nobody sees before. Beyond: gRPC
// ends streams; their clients come back and send again what was not held.
inline constexpr size_t kGrpcBytes = 512 << 20;
// What streams remember of the shapes of ops, 8 B for each op of each session
// that is open on them: as many as kOpBytes has room for at kRankOpBytes each
// (8 M), and so 64 MB, at most twice that in memory. Beyond: further names are
// refused ("op_shapes"); statuses of known ops go on.
inline constexpr size_t kOpShapes = 8 << 20;
// Answers that wait for clients that do not read them, over all streams: ten
// times what 8,192 ranks that open at once are told. Beyond: the stream that
// would go over it is cut ("replies"); its client comes back.
inline constexpr size_t kUnreadReplyBytes = 32 << 20;
// --- The daemon -----------------------------------------------------------
// Live runs and kept ended ones. A RunView is about 2 KB, engine state of a
// rank
// <= 8 KB. Beyond: OpenSession is refused ("runs", "ranks").
inline constexpr size_t kRuns = 16384;
inline constexpr size_t kRanks = 131072;
inline constexpr int kWorldSizeMax = 1 << 20;
// What runs say of themselves (settings, job, precision): 4 KB each for kRuns;
// a training's settings are 1 to 2 KB. They are held three to four times: as
// state, in the snapshot, in what waits for history. Beyond: the opening is
// refused ("run_bytes").
inline constexpr size_t kRunBytes = 64 << 20;
// Attempts of one run id that are held: each is a run among kRuns. Beyond, the
// ones that ended longest ago leave the engine before their time; history has
// them.
inline constexpr size_t kAttemptsHeld = 16;
// Resident memory from which on openings and names of ops are refused
// ("memory"): what is open goes on. Below 2 GB, where systemd's MemoryMax of
// deploy/ ends the daemon, by as much as replies and history may still need.
inline constexpr size_t kResidentBytes = 1536 << 20;
// Ids of runs, held or gone, whose newest attempt is remembered, so that no
// attempt's number is given twice: 80 B and the id each, 9 MB; at 1,000 runs a
// day two months of them. Beyond: those heard of longest ago are forgotten,
// counted ("run_ids"). Such a run, if it ever comes back and its client counts
// no attempts, begins with attempt 0 again, and history keeps it behind the old
// one of that number.
inline constexpr size_t kRunIds = 65536;
// Names of ops, counted once a run (400 B and their strings), and 32 B for each
// rank that has one: 600,000 names, or 1,000 ranks of 8,000 ops each. Beyond:
// further names are refused ("op_bytes"); statuses of known ops go on.
inline constexpr size_t kOpBytes = 256 << 20;
inline constexpr size_t kRankOpBytes = 32;
// Parsed batches that wait for the pipeline. A user may have as much there as
// is still free: alone one half, of two a third each. Beyond: refused with a
// retry hint ("mailbox"); from half of it on his streams are read slowly.
inline constexpr size_t kMailboxEvents = 16384;
inline constexpr size_t kMailboxBytes = 64 << 20;
// Batches that are judged and wait for their commit, 20 to 40 ms of a disk's
// work: who waits behind them waits no longer. A user's share is as in the
// mailbox. Beyond: his further batches stay there.
inline constexpr size_t kUncommittedBytes = 4 << 20;

// --- One user ----------------------------------------------------------------
// Who is alone may have most of what all share; who comes later finds a
// quarter. Users of whom the configuration says otherwise (quotas) have that.
// Beyond: refused ("user_runs", "user_sessions", ...).
constexpr size_t UserShare(size_t of_all) { return of_all - of_all / 4; }
// Ten times what one thread judges (25 MB/s of step records as they come over
// the wire). Beyond: nothing of his is read for a while ("user_bytes").
inline constexpr int64_t kUserBytesPerSecond = 256ll << 20;

// --- Ops of one rank ---------------------------------------------------------
// Interesting op statuses that wait for their step record, 250 B each: 512 KB
// while they wait. Beyond: not judged one by one, counted ("pending_ops").
inline constexpr int kPendingOpsPerRank = 2048;
// (op, slot) pairs with rule state, and how many of them may be gradients.
// Beyond: not judged, counted ("watched_ops").
inline constexpr int kWatchedOpsPerRank = 256;
inline constexpr int kWatchedGradientsPerRank = 192;
// FP8 tensors (op, slot) whose usual state is known, 16 B each. Beyond: their
// changes are not seen.
inline constexpr int kFp8TensorsPerRank = 4096;
// Steps with op statuses whose record is still to come, 220 B each. Beyond:
// what the oldest one's gradients say together is not collected.
inline constexpr int kStepSums = 256;
// What gradients of ops in fp16 and FP8 say until their record comes, 40 B
// each. Beyond: what waits is forgotten, and these steps say nothing of the
// scales that suit.
inline constexpr int kWaitingFits = 16384;
// Ops whose suitable scales are known, 24 B each, and weights that are held
// against their layer's scale, 28 B each. Beyond: of further ones nothing is
// known.
inline constexpr int kLayerRangesPerRank = 16384;
// Layers whose overflows are followed one by one, 1.2 KB each: those that were
// the first of an update to overflow. Beyond: a further one takes the place of
// one that is well, or is not followed.
inline constexpr size_t kLayerCoursesPerRank = 8;
// Layers whose suitable scales are published, 150 B each. Beyond: further ones
// are not shown.
inline constexpr size_t kLayersShown = 4096;
// Layers with a scale of their own, 16 B each. Beyond: of further ones only the
// lowest and the highest are seen.
inline constexpr size_t kLayerScalesPerRank = 4096;
// Outputs of a step whose zeros are held against those of gradients, 24 B each,
// the first ones. Beyond: a mask's zeros count as the gradient's own.
inline constexpr size_t kMasksPerStep = 256;
// Gradient tensors of a rank that are known to be exactly 0, 8 B each. Beyond:
// further ones that become so have no name.
inline constexpr int kZeroedTensors = 256;
// Ops of a run that were ever bad and are followed; first causes stay. 112 B
// for each rank where one was: 940 MB at most, if all are bad on all of kRanks.
inline constexpr int kOpEvidence = 64;

// --- A benchmark ------------------------------------------------------------
// Losses of it that a run holds, 28 B each beside those of its checkpoint: 230
// KB. `nanwatch bench` leaves every n-th of more; the daemon refuses them.
inline constexpr size_t kBenchmarkPoints = 8192;
// Runs that have one: 60 MB. Beyond: further ones are refused.
inline constexpr size_t kBenchmarks = 256;

// --- Alignment of ranks (design: one record, "Alignment of ranks") ---------
inline constexpr int kAlignedSlots = 256;
inline constexpr int kAlignedLeadSteps = 64;
inline constexpr int64_t kAlignedWaitSeconds = 60;

// --- History ---------------------------------------------------------------
// Events of one rank that are committed together share a blob until it holds so
// many bytes: what reading one batch costs at most beside the batch itself.
inline constexpr size_t kHistoryGroupBytes = 128 << 10;
// ... and until its ids span so many, so that a reader that starts at an id
// finds every blob that may hold it.
inline constexpr uint64_t kHistoryIdSpan = 4096;
// The plain bytes of the largest blob: a checkpoint of 16,384 ranks x 8 KB and
// room. A larger size in a file is damage.
inline constexpr size_t kHistoryBlobBytes = 256 << 20;
// Saved incidents of one run that wait for a commit weigh about 2 KB each; no
// limit of their own, they count against HistoryOptions::queue_bytes.

// --- Requests to trainers --------------------------------------------------
inline constexpr int kRequestRanks = 4;
inline constexpr int kRequestOps = 64;

// --- Reading ---------------------------------------------------------------
// Calls that last, a thread each of 100 KB: who watches a run, and who exports
// one. Beyond: refused. Other calls have kCalls threads that
// nobody takes from them; more of them wait.
inline constexpr int kWatchers = 128;
inline constexpr int kExports = 16;
inline constexpr int kCalls = 32;
// Bodies of HTTP requests that are read at once. Beyond: 503, unread.
inline constexpr int kHttpBodies = 8;
inline constexpr int kPointsPerQuery = 10000;
// Of two runs that are compared over HTTP: rows of steps and ops that are read,
// and steps and tensors that are held, 300 bytes each. Beyond: 413.
inline constexpr size_t kComparedRows = 20000000;
inline constexpr size_t kComparedHeld = 500000;
inline constexpr size_t kHttpReplyBytes = 16 << 20;
// Oldest resolved ones go first. More open ones: not opened, counted at each
// look ("incidents").
inline constexpr int kIncidentsPerRun = 256;
// Of ranks and ops, and how many of them may be of ops. Beyond: not shown,
// counted ("findings").
inline constexpr int kFindingsPerRun = 4096;
inline constexpr int kOpFindingsPerRun = 3072;
// Shown in an incident, first cause first; further ones still count.
inline constexpr size_t kFindingsPerIncident = 64;
// What people muted in a run; the oldest go first.
inline constexpr size_t kMutesPerRun = 64;
inline constexpr int kTopOps = 50;      // in a view and in metrics
inline constexpr int kRankSeries = 64;  // rank series before aggregation
// Series of one exposition: 100 bytes each, 10 MB of text. Beyond: whole runs
// are left out, healthy ones first ("metric_series", counted by
// nanwatch_series_left_out).
inline constexpr size_t kMetricSeries = 100000;
inline constexpr int kNotices = 10000;  // notifier queue, newest per alert

// Tokens of callers over TCP, 100 B each. Beyond: the file is refused.
inline constexpr size_t kTokens = 10000;

}  // namespace nanwatch::limits

#endif  // NANWATCH_MODEL_LIMITS_H_
