// EpochLines: steps for lines that show an epoch and no step. EpochHeadings:
// lines that say an epoch alone, "Epoch 1/5". Laps: epochs for lines that show
// a step of so many, "[640/60000]", or a batch, and no epoch.

#ifndef NANWATCH_LOGS_EPOCH_LINES_H_
#define NANWATCH_LOGS_EPOCH_LINES_H_

#include <cstdint>
#include <utility>

namespace nanwatch {

// A line an epoch: its step is the epoch. Where an epoch has several lines,
// they are counted, and anew where a run begins: the epoch goes back by more
// than that of a rank that is late, behind as many lines as a run has at least:
// rounds of a few epochs are one run's. Where epochs had a line each, the first
// one again is the next run's, behind a run of one.
class EpochLines {
 public:
  // The run begins anew with the next line.
  void BeginAnew() {
    if (several_ && lines_ < kOfRun) return;
    epoch_ = -1;
    lines_ = 0;
    if (several_) step_ = 0;
    anew_ = true;
  }
  // `*counted`: the step is no number of the line's, or another run's first,
  // which is no copy.
  int64_t Step(int64_t epoch, bool* counted) {
    ++lines_;
    if (several_ && epoch + 1 < epoch_) BeginAnew();
    if (first_ < 0) first_ = epoch;
    const bool again = std::exchange(epoch_, epoch) == epoch;
    const bool next = again && epoch == first_ && one_each_ >= kOneEach;
    const bool same = again && !next;
    one_each_ += same ? -1 : 1;
    const bool anew = std::exchange(anew_, false) || next;
    if (!several_ && !same) {
      *counted = anew && epoch == step_;
      step_ = epoch;
      return step_;
    }
    several_ = true;
    *counted = true;
    return ++step_;
  }
  // Most epochs have a line: others began anew, or twice.
  bool one_each() const { return one_each_ > 0; }

 private:
  static constexpr int64_t kOfRun = 24;   // ours
  static constexpr int64_t kOneEach = 4;  // epochs that show it; ours

  int64_t first_ = -1;  // of the log
  int64_t epoch_ = -1;
  int64_t step_ = 0;
  int64_t lines_ = 0;     // of the run
  int64_t one_each_ = 0;  // lines of a new epoch, less those of the same
  bool several_ = false;
  bool anew_ = false;  // with the next line
};

// The numbers of headings, of which the first one's words count: others may say
// that an epoch ends. Below one that is lower, or is the first one again, a run
// begins anew, but for the trainings of an epoch each, "Epoch 1/1". Where the
// next one is higher before any line of the training, the first said its number
// above an evaluation.
class EpochHeadings {
 public:
  // `words`: their number; `whole`: of so many epochs; 0: it is not told.
  void Note(uint32_t words, int64_t epoch, int64_t whole) {
    if (words_ == 0) {
      words_ = words;
      first_ = newest_ = epoch;
    }
    if (words != words_) return;
    const bool last = whole > 0 && epoch >= whole;
    again_ =
        epoch == newest_ && epoch == first_ && !last && (trained_ || again_);
    anew_ |= epoch < newest_;
    newest_ = epoch;
    trained_ = false;
  }
  // Of a line of the training, below the newest: it is the first of a run, but
  // of the log's first.
  bool BeginsAnew() {
    const bool anew = anew_ || again_;
    anew_ = again_ = false;
    trained_ = true;
    return anew;
  }

 private:
  uint32_t words_ = 0;  // 0: none yet
  int64_t first_ = 0;
  int64_t newest_ = 0;
  bool trained_ = false;  // a line stood below the newest
  bool anew_ = false;     // the newest went back
  bool again_ = false;    // it is the first one's
};

// Steps that begin anew behind the last of so many are the next epoch's; before
// it, another run's, as where other lines tell an epoch far below the one
// before. Nobody counts the batches of a run: they begin anew in each epoch,
// however many it has.
class Laps {
 public:
  static constexpr int64_t kSome = -1;  // batches, of a whole that is not told

  // Of the line's step, from 0.
  int64_t Epoch(int64_t step, int64_t whole) {
    if (whole != whole_) {
      whole_ = whole;
      stride_ = 0;
    } else if (step > step_) {
      stride_ = step - step_;
    } else if (step < step_ && step <= stride_) {
      epoch_ = step_ >= whole - stride_ ? epoch_ + 1 : 0;
    }
    step_ = step;
    return epoch_;
  }
  // Of a line that tells no step. One that is late is of the epoch before.
  void Note(int64_t epoch) {
    if (epoch + 1 < told_) epoch_ = 0;
    told_ = epoch;
  }

 private:
  int64_t epoch_ = 0;
  int64_t told_ = 0;    // by the newest line without a step
  int64_t step_ = 0;    // of the newest line
  int64_t whole_ = 0;   // 0: none yet
  int64_t stride_ = 0;  // steps from line to line
};

}  // namespace nanwatch

#endif  // NANWATCH_LOGS_EPOCH_LINES_H_
