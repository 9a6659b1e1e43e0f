// the accuracies that any program prints of evaluations: sample lines in its
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"in an object", "{'eval_loss': 2.3, 'eval_accuracy': 0.125, 'epoch': 5.0}",
     "accuracy: 0.125"},
    {"in quotes", "{'eval_accuracy': '0.25', 'epoch': '1'}", "accuracy: 0.25"},
    {"in percent", "Epoch 3 | val acc 12.5%", "accuracy: 0.125"},
    {"in percent, without a sign", "Test Accuracy: 50.0", "accuracy: 0.5"},
    {"behind a point", "\t Val. Loss: 2.306 |  Val. Acc: 6.25%",
     "accuracy: 0.0625"},
    {"as a fraction", "Test set: Average loss: 2.3054, Accuracy: 45/360 (12%)",
     "accuracy: 0.125"},
    {"behind a training's", "accuracy: 0.5 - loss: 2.3 - val_accuracy: 0.25",
     "accuracy: 0.25"},
    {"a training's and other words",
     "Train Acc: 24.86%\nacc: 0.5\nloss 0.5 val_loss 0.6 acc "
     "0.8\nval_accumulate: 3\ntest_acc\n"
     "val_acc: nan\nval_acc: 360/0\nvalidation access: 0.5",
     ""},
};

}  // namespace

const SampleTable kEvaluationAccuracySamples = {"evaluation_accuracy", kLines};

}  // namespace nanwatch
