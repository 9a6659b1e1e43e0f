// what any program prints of an evaluation that is no good: sample lines in
// its texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"in an object", "{'eval_loss': nan, 'eval_runtime': 12.1, 'epoch': 0.39}",
     "evaluated: eval_loss loss=nan"},
    {"in quotes", "{'eval_loss': 'nan', 'epoch': '0.39'}",
     "evaluated: eval_loss loss=nan"},
    {"a line of an object", "      \"eval_loss\": NaN,",
     "evaluated: eval_loss loss=nan"},
    {"behind a training's",
     "1875/1875 - 2s - loss: 0.25 - accuracy: 0.9 - val_loss: nan",
     "evaluated: val_loss loss=nan"},
    {"behind a comma", "after an hour, val loss nan",
     "evaluated: val loss loss=nan"},
    {"with blanks about its sign", "[ Info: step 300 validation val/loss = NaN",
     "evaluated: validation val/loss loss=nan"},
    {"in a sentence", "Validation cost was nan",
     "evaluated: Validation cost loss=nan"},
    {"behind its epoch", "Valid Epoch: 16 Loss: nan: 100% 660/660",
     "evaluated: Valid Epoch: 16 Loss loss=nan"},
    {"a line of its own, of parts",
     "- Valid | Epoch 12 | 1/3 | 0.31 it/sec | Loss nan | Reco nan\n"
     "[Eval] step 90, 0.5 s, loss 2.5",
     "evaluated: Valid | Epoch 12 | 1/3 | 0.31 it/sec | Loss loss=nan\n"
     "evaluated: Eval] step 90, 0.5 s, loss loss=2.5"},
    {"of the best one",
     "val loss: nan\nNew best valid loss 2.5\nbest val loss: 2.5",
     "evaluated: val loss loss=nan"},
    {"a path", "{'train/loss': 1.5, 'eval/loss': nan}",
     "evaluated: eval/loss loss=nan"},
    {"in a bar", "Validating: 100%|###| 10/10 [00:01, v_num=1, val_loss=inf]",
     "evaluated: val_loss loss=inf"},
    {"finite again", "val loss nan\nval loss 2.5\nval loss 2.25",
     "evaluated: val loss loss=nan\nevaluated: val loss loss=2.5"},
    {"of a test", "Test set: Average loss: nan, Accuracy: 980/10000 (10%)",
     "evaluated: Test set: Average loss loss=nan"},
    {"behind its batch", "Test: [  97/97]  Time: 0.18 (0.20)  Loss:  nan (nan)",
     "evaluated: Test: [  97/97]  Time: 0.18 (0.20)  Loss loss=nan"},
    {"far above the lowest",
     "val loss 2.5\nval loss 2\nval loss 9\nval loss 90\nval loss 4\n"
     "val loss 1",
     "evaluated: val loss loss=9\nevaluated: val loss loss=90\n"
     "evaluated: val loss loss=4\nevaluated: val loss loss=1"},
    {"by its set alone", "i=40 train=0.9 valid=nan\ni=50 train=0.9 valid=2.5",
     "evaluated: valid loss=nan\nevaluated: valid loss=2.5"},
    {"a score that rises, by its set alone", "val: 0.01\nval: 0.5\nval: 0.9",
     ""},
    {"in other words",
     "va nan\ndev loss nan\nholdout loss: nan\nloss_val: nan\n"
     "eval-rmse:nan\n| val loss  | nan |\neval at step 10: ppl nan\n"
     "loss 2.5 (val nan)\nVali Loss: nan",
     "evaluated: va loss=nan\nevaluated: dev loss loss=nan\n"
     "evaluated: holdout loss loss=nan\nevaluated: loss_val loss=nan\n"
     "evaluated: eval-rmse loss=nan\nevaluated: val loss loss=nan\n"
     "evaluated: ppl loss=nan\nevaluated: val loss=nan\n"
     "evaluated: Vali Loss loss=nan"},
    {"a perplexity that none can be",
     "Train Loss: -90.5 Test Loss: -91.5 Test Perplexity: 0\n"
     "eval loss: 2.5, eval_ppl: 0.5\nResult of the test: perplexity = inf",
     "evaluated: Perplexity loss=nan\nevaluated: eval_ppl loss=nan\n"
     "evaluated: perplexity loss=nan"},
    {"perplexities, and what is called so",
     "val loss: 0.1, val_ppl: 1.105\nstep 0, loss: 2.5, val ppl: 0.0\n"
     "test log ppl: 0.5\ntest_log_perplexity: 0.5\ntest nippled 0.5",
     ""},
    {"beside a loss of training that falls",
     "train 3.5 val 2.5\ntrain 3 val 2\ntrain 2 val 90",
     "evaluated: val loss=90"},
    {"beside a score that rises",
     "train 0.1 val 0.1\ntrain 0.5 val 0.5\ntrain 0.9 val 0.9", ""},
    {"other losses and words",
     "{'train_loss': nan}\neval_loss: 1.25\ninterval_loss: nan\n"
     "eval_loss_scaled: nan\nbest_eval_loss: 2.5\neval_loss: nano\neval_loss\n"
     "validity loss: nan\nlatest loss: nan\nval\nvalue loss: nan\nval_acc: "
     "0.5, loss: nan",
     ""},
};

}  // namespace

const SampleTable kEvaluationWordsSamples = {"evaluation_words", kLines};

}  // namespace nanwatch
