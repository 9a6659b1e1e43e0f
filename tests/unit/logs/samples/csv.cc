// any program: a table with a header, CSV or tab-separated: sample lines in its
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"epochs in a table, and steps that no epoch has",
     "epoch,step,loss\n0,10,2.5\n1,10,2\n2,5,1.5\n2,6,1\n"
     "999999,1000000000000000,1\n-1,7,1\nnan,8,1\n1e300,9,1",
     "step=10 loss=2.5\nstep=20 loss=2\nstep=25 loss=1.5\n"
     "step=26 loss=1\nstep=1e+15 loss=1\nstep=27 loss=1\n"
     "step=28 loss=1\nstep=29 loss=1"},
    {"CSV, quotes, absent cells",
     "epoch,step,\"train/loss\",loss scale,grad_norm,note\n"
     "0,10,2.5,65536,0.5,\"a, b\"\n"
     "0,20,,32768,,\n"
     "0,30,nan,32768,inf,x\n"
     "0,40,2.5,1",
     "step=10 loss=2.5 loss_scale=65536 grad_norm=0.5\n"
     "step=20 loss_scale=32768\n"
     "step=30 loss=nan loss_scale=32768 grad_norm=inf"},
    {"tabs, and a second table",
     "iteration\tloss\tlr\n1\t2.5\t0.1\nprose, with commas\n"
     "step;loss;gnorm\n2;1.5;0.25",
     "step=1 loss=2.5 learning_rate=0.1\nstep=2 loss=1.5 grad_norm=0.25"},
    {"an epoch a row", "epoch,accuracy,loss,val_loss\n0,0.5,2.5,3\n1,0.6,nan,3",
     "step=0 loss=2.5 of_classes\nstep=1 loss=nan of_classes"},
    {"a cross-entropy by its name, and with a term beside it",
     "step,cross_entropy_loss,val_ce_loss\n1,2.5,3\n"
     "step;ce_loss;kl_loss\n2;2.5;-0.5\n"
     "step,loss_ce,train_loss\n4,2,2.25",
     "step=1 loss=2.5 cross_entropy\nstep=2 loss=2\n"
     "step=4 loss=2.25"},
    {"German, its numbers with commas",
     "Epoche;Verlust;Genauigkeit\n1;2,5;0,25\n2;2,25;0,5",
     "step=1 loss=2.5 of_classes\nstep=2 loss=2.25 of_classes"},
    {"not a table",
     "loss, they said, is what it is\n1,2,3\nname,loss\nx,3\na,b\n", ""},
    {"bars between, and a term of the loss that is not finite",
     "Step | Training Loss | reward | kl\n-- | -- | -- | --\n"
     "1 | -0.250000 | 13.437500 | 0.5\n2 | -0.125000 | 6.931818 | nan",
     "step=1 loss=-0.25 of_rewards\nstep=2 loss=-0.125 of_rewards"},
    {"a scale by its values, whatever its name",
     "step,loss,fp16 scaler value,lr\n1,2.5,65536.0,0.5\n2,2.25,0.5,0.5",
     "step=1 loss=2.5 loss_scale=65536 learning_rate=0.5\n"
     "step=2 loss=2.25 loss_scale=0.5 learning_rate=0.5"},
    {"blanks between",
     "epoch     train_loss  valid_loss  accuracy  time    \n"
     "0         0.750000    0.820000    0.500000  00:42   \n"
     "1         nan         nan         0.520000  00:42   ",
     "step=0 loss=0.75 of_classes\nstep=1 loss=nan of_classes\n"
     "evaluated: valid_loss loss=nan"},
    {"a header behind a number sign, and what a loss measures",
     "#  step      rmse_val    rmse_trn    rmse_e_trn         lr\n"
     "      0      2.69e+01    2.50e+01      8.12e-02    1.0e-03\n"
     "   1000      1.33e+01         nan      5.37e-02    9.5e-04",
     "step=0 loss=25 learning_rate=0.001\n"
     "step=1000 loss=nan learning_rate=0.00095"},
    {"rows that lack cells in the middle, and a list below",
     "epoch  iteration  main/loss  val/loss  elapsed_time\n"
     "1      10         2.5                  15.5\n"
     "2      20         1.5        1.75      30.5\n"
     "3      30         nan                  45.5\n"
     "1      0.25\n2      nan",
     "step=10 loss=2.5\nstep=20 loss=1.5\nstep=30 loss=nan"},
    {"as many words as columns between rows",
     "step   loss  gnorm  loss_scale\n"
     "10     2.5   0.5   1024\n"
     "[eval] step  10:   3.5\n"
     "20     1.5   0.5   1024",
     "step=10 loss=2.5 loss_scale=1024 grad_norm=0.5\n"
     "step=20 loss=1.5 loss_scale=1024 grad_norm=0.5"},
    {"steps that are no plain numbers",
     "step   loss  gnorm\n0     2.5   0.5\n1,000  1.5   0.5\n2,000  nan   0.5",
     "step=0 loss=2.5 grad_norm=0.5\nstep=1000 loss=1.5 grad_norm=0.5\n"
     "step=2000 loss=nan grad_norm=0.5"},
    {"rows of a training and of an evaluation",
     "  Train      #    Epoch       LR       loss_f         loss\n"
     "! Validation             0    0.125         0.25        0.75\n"
     "! Train                  1    0.125         0.25        0.5\n"
     "! Validation             1    0.125         0.25        0.75\n"
     "! Train                  2    0.125         nan         nan\n"
     "! Validation             2    0.125         0.25        0.75",
     "step=0 loss=0.75 learning_rate=0.125\n"
     "step=1 loss=0.5 learning_rate=0.125\n"
     "step=2 loss=nan learning_rate=0.125"},
    {"returns alone", "step,episode_return,length\n10,1.5,9\n20,2.5,8",
     "step=10 loss=-1.5 of_rewards of_objective guessed\n"
     "step=20 loss=-2.5 of_rewards of_objective guessed"},
    {"an evaluation's losses alone",
     "epoch,val_mse,time\n0,310.5,123\n1,244.25,129",
     "step=0 loss=310.5 guessed\n"
     "step=1 loss=244.25 guessed"},
    {"of what a generator makes", "kimg,fid50k_full\n0,310.5\n200,244.25",
     "step=0 loss=310.5 guessed\nstep=200 loss=244.25 guessed"},
    {"prose in blanks", "the loss  at step\n1  2\nloss  of  steps\nno  3  4",
     ""},
    {"losses without their sum",
     "epoch,time,train/box_loss,train/cls_loss,val/box_loss,lr/pg0\n"
     "1,731.2,0.25,11.5,nan,0.5\n2,731.2,nan,11.5,1,0.5\n"
     "3,731.2,,11.5,1,0.5",
     "step=1 loss=11.75 learning_rate=0.5\nstep=2 loss=nan learning_rate=0.5"},
    {"a policy's losses follow rewards",
     "step,policy_loss,value_loss\n1,2,0.5\n2,2,0.25",
     "step=1 loss=2.5 of_rewards\nstep=2 loss=2.25 of_rewards"},
};

}  // namespace

const SampleTable kCsvTableSamples = {"csv", kLines};

}  // namespace nanwatch
