// MAE, BEiT, DeiT and relatives (log.txt, a line an epoch): sample lines in its
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"means of an epoch, and no JSON",
     R"({"train_lr": 0.0001, "train_min_lr": 1e-06, "train_loss": 6.875, )"
     R"("train_loss_scale": 853.3333333333334, "train_weight_decay": 0.05, )"
     R"("train_grad_norm": Infinity, "test_loss": 5.1, "epoch": 3, )"
     R"("n_parameters": 86567656})"
     "\n"
     R"({"train_lr": 0.0001, "train_loss": NaN, "epoch": 4})"
     "\n"
     R"({"epoch": 2, "train_loss": "1.603", "train_num_updates": "104"})"
     "\n"
     R"({"epoch": 4, "train_loss": 2.5, "val_loss": 2.25})"
     "\n"
     R"({"train_lr": 0.0001, "train_loss": 6.5, "epoch": 5)",
     "step=3 loss=6.875 loss_scale=853.3333333 grad_norm=inf "
     "learning_rate=0.0001\n"
     "step=4 loss=nan learning_rate=0.0001"},
};

}  // namespace

const SampleTable kMaeBeitSamples = {"mae_beit", kLines};

}  // namespace nanwatch
