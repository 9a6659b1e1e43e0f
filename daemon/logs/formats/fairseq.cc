// fairseq, old and new, text, progress bar and JSON; and metaseq, which prints
// fairseq's JSON with norms and memory in it. Overflowed updates take no
// number of update.
//
// | epoch 001:   1000 / 1637 loss=7.624, ..., num_updates=996, lr=0.0019,
// gnorm=62.2, clip=100%, oom=0, loss_scale=4.000, wall=241
// 2020-05-01 10:10:10 | INFO | train_inner | {"epoch": 1, "loss": "12.2", ...,
// "num_updates": "100", "gnorm": "3.2", "loss_scale": "128", ...}
// | WARNING: overflow detected, setting loss scale to: 64.0

#include <cmath>
#include <string_view>

#include "logs/formats/formats.h"
#include "logs/message_number.h"
#include "logs/printed_scale.h"
#include "logs/scan.h"

namespace nanwatch {
namespace {

// Step lines print the scale rounded, and old ones its mean over the epoch.
// Scales are powers of two: one next to none is a mean and says nothing of now.
void SetProgressScale(std::string_view text, LogFact* fact) {
  const std::optional<double> scale = WholeNumber(text);
  if (!scale) return;
  if (*scale <= 0) {
    SetScale(text, ScaleText::kRounded, fact);
    return;
  }
  const double power = std::exp2(std::round(std::log2(*scale)));
  const size_t point = text.find('.');
  const size_t places =
      point == std::string_view::npos ? 0 : text.size() - point - 1;
  const double rounding = 0.51 * std::pow(10.0, -static_cast<double>(places));
  if (std::fabs(*scale - power) <= rounding && power > rounding) {
    fact->Set(StepField::kLossScale, power);
  }
}

void SetNumber(StepField field, std::string_view text, LogFact* fact) {
  const std::optional<double> value = WholeNumber(text);
  if (value) fact->Set(field, *value);
}

// The value of `key` in a line whose values end with `ends`; empty: none, or
// torn.
std::string_view ValueOf(std::string_view line, std::string_view key,
                         std::string_view ends) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const size_t begin = at + key.size();
  const size_t end = line.find_first_of(ends, begin);
  if (end == std::string_view::npos) return {};
  return line.substr(begin, end - begin);
}

// Names of a step line's fields in one of the three notations.
struct Notation {
  std::string_view loss, updates, norm, rate, scale;
  std::string_view ends;  // what ends a value
};
constexpr Notation kText = {
    " loss=", " num_updates=", " gnorm=", " lr=", " loss_scale=", ",] "};
constexpr Notation kSummary = {" loss ", " num_updates ", " gnorm ",
                               " lr ",   " loss_scale ",  " "};
constexpr Notation kJson = {R"("loss": ")",       R"("num_updates": ")",
                            R"("gnorm": ")",      R"("lr": ")",
                            R"("loss_scale": ")", "\""};

// False: there is no loss.
bool ReadFields(std::string_view line, const Notation& names, LogFact* fact) {
  SetNumber(StepField::kLoss, ValueOf(line, names.loss, names.ends), fact);
  if (!fact->has(StepField::kLoss)) return false;
  SetNumber(StepField::kGradNorm, ValueOf(line, names.norm, names.ends), fact);
  SetNumber(StepField::kLearningRate, ValueOf(line, names.rate, names.ends),
            fact);
  SetProgressScale(ValueOf(line, names.scale, names.ends), fact);
  const std::optional<int64_t> updates =
      AsCount(WholeNumber(ValueOf(line, names.updates, names.ends)));
  if (updates) fact->step = *updates;
  return true;
}

template <bool kOfMetaseq>
class FairseqReader : public LineReader {
 public:
  void Read(std::string_view line, FactList* facts) override {
    for (Scan scan(line); scan.To("overflow detected,");) {
      ReadOverflow(line, scan.at(), facts);
    }
    const size_t stopped = line.find("Minimum loss scale reached (");
    if (stopped != std::string_view::npos) {
      AddFact(LogFact::Kind::kStopped, stopped, facts).text =
          line.substr(stopped);
    }
    constexpr std::string_view kObject = R"({"epoch": )";
    for (size_t at = line.find(kObject); at != std::string_view::npos;) {
      const size_t next = line.find(kObject, at + 1);
      ReadObject(line.substr(at, next - at), at, facts);
      at = next;
    }
    if (kOfMetaseq) return;
    for (Scan scan(line); scan.To("epoch ");) {
      ReadEpoch(line, scan.at(), facts);
    }
  }

 private:
  void ReadOverflow(std::string_view line, size_t at, FactList* facts) {
    Scan scan(line, at);
    scan.Skip(" ignoring gradient,");
    if (!scan.Skip(" setting loss scale to: ")) return;
    const auto after = ReadMessageNumber(scan.rest());
    if (!after || IsTorn(after->text, last_) ||
        IsTorn(after->text, last_ / 2)) {
      return;
    }
    LogFact& fact = AddFact(LogFact::Kind::kOverflow, at, facts);
    SetScale(after->text, ScaleText::kExact, &fact);
    last_ = after->value;
    overflowed_ = true;
  }

  void ReadObject(std::string_view object, size_t at, FactList* facts) {
    const bool metaseq =
        object.find("\"actv_norm\"") != std::string_view::npos ||
        object.find("\"cuda_gb_") != std::string_view::npos;
    if (kOfMetaseq != metaseq) return;
    LogFact fact;
    fact.at = static_cast<uint32_t>(at);
    // Without its update it is torn, or no step's.
    if (ReadFields(object, kJson, &fact) && fact.step) facts->push_back(fact);
  }

  // Behind "epoch ": `001:   1000 / 1637 loss=...`, a progress bar, or the
  // summary `001 | loss 6.648 | ...`.
  void ReadEpoch(std::string_view line, size_t at, FactList* facts) {
    Scan scan(line, at);
    const std::optional<int64_t> epoch = scan.Integer();
    if (!epoch) return;
    if (scan.Skip(" | ")) {
      ReadSummary(line, at, scan, facts);
      return;
    }
    scan.Skip(":");
    scan.SkipBlanks();
    const size_t bar = line.find("%|", scan.at());
    if (bar != std::string_view::npos && bar < scan.at() + 4) {
      scan = Scan(line, bar + 2);
      scan.To("|");
    }
    const std::optional<int64_t> batch = scan.Integer();
    scan.SkipBlanks();
    if (!batch || !scan.Skip("/")) return;
    const std::optional<int64_t> batches = scan.Integer();
    if (!batches) return;
    LogFact fact;
    fact.at = static_cast<uint32_t>(at);
    if (!ReadFields(line.substr(scan.at()), kText, &fact)) return;
    // The first versions did not count updates.
    if (!fact.step) fact.step = (*epoch - 1) * *batches + *batch;
    fact.skips_took_steps = SkipsTookSteps(*epoch, *batch, *fact.step);
    facts->push_back(fact);
    inner_ = true;
  }

  // Of a batch that overflowed there is no update. Where the log counts as many
  // updates as batches all the same, they are batches: forks count so.
  bool SkipsTookSteps(int64_t epoch, int64_t batch, int64_t updates) {
    const Place now = {epoch, batch, updates};
    if (now.epoch == place_.epoch && now.batch == place_.batch) return took_;
    took_ = overflowed_ && now.epoch == place_.epoch &&
            now.batch > place_.batch &&
            now.batch - place_.batch == now.updates - place_.updates;
    overflowed_ = false;
    place_ = now;
    return took_;
  }

  // An epoch's means. Old step lines are means since the epoch's start, of
  // which this is the last; new ones are not, and this would be a jump back:
  // it is read only where there are no others.
  void ReadSummary(std::string_view line, size_t at, const Scan& behind,
                   FactList* facts) {
    const std::string_view rest = behind.rest();
    const bool own =
        rest.starts_with("loss ") || rest.starts_with("train loss ");
    if (!own) return;  // validation
    const size_t head = line.substr(0, at).find("| train |");
    const bool had_inner = std::exchange(inner_, false);
    if (head != std::string_view::npos && had_inner) return;
    LogFact fact;
    fact.at = static_cast<uint32_t>(at);
    const std::string_view fields = line.substr(behind.at() - 1);
    if (ReadFields(fields, kSummary, &fact) && fact.step) {
      facts->push_back(fact);
    }
  }

  double last_ = 0;     // newest scale of an overflow line; 0: none yet
  bool inner_ = false;  // step lines were seen since the last epoch's end
  struct Place {
    int64_t epoch = -1;
    int64_t batch = 0;  // of the epoch
    int64_t updates = 0;
  };
  Place place_;              // of the newest step line
  bool took_ = false;        // its answer to SkipsTookSteps, for its copies
  bool overflowed_ = false;  // since then
};

constexpr std::string_view kOverflowMark = "overflow detected,";
constexpr std::string_view kMinimumMark = "Minimum loss scale reached (";
constexpr std::string_view kFairseqMarks[] = {
    kOverflowMark, kMinimumMark, " loss=", " num_updates ", "\"num_updates\""};
constexpr std::string_view kMetaseqMarks[] = {kOverflowMark, kMinimumMark,
                                              "\"num_updates\""};

}  // namespace

const LogFormat kMetaseq = {
    .name = "metaseq",
    .title = "metaseq (OPT)",
    .marks = kMetaseqMarks,
    .tells_overflows = true,
    .skips_take_steps = false,
    .make = Fresh<FairseqReader<true>>,
};

const LogFormat kFairseq = {
    .name = "fairseq",
    .title = "fairseq, MLPerf Transformer",
    .marks = kFairseqMarks,
    .tells_overflows = true,
    .skips_take_steps = false,
    .make = Fresh<FairseqReader<false>>,
};

}  // namespace nanwatch
