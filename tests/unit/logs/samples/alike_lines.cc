// Lines alike of no known program: sample lines, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a header of names with hyphens",
     "Step      Total-Loss L1Reg-Loss RMSE-F-Train\n"
     "100       1.5        0.0204     0.510\n"
     "200       1.25       0.0208     0.500\n"
     "300       1.0        0.0212     0.490\n"
     "400       0.75       0.0211     0.480\n"
     "500       0.625      0.0215     0.470\n"
     "600       0.5        0.0219     0.460",
     "step=100 loss=1.5\n"
     "step=200 loss=1.25\n"
     "step=300 loss=1\n"
     "step=400 loss=0.75\n"
     "step=500 loss=0.625\n"
     "step=600 loss=0.5"},
    {"the time that a loss takes",
     "Epoch [1/20][24/1931] time: 0.919, loss_parse_time: 0.000, memory: 79\n"
     "Epoch [1/20][48/1931] time: 0.918, loss_parse_time: 0.000, memory: 79",
     ""},
    {"a word before each number, and no sign",
     "07:00:01 [fit] upd  10 | obj  8.50 | hit 34.4% |\n"
     "07:00:02 [fit] upd  20 | obj  8.25 | hit 35.0% |\n"
     "07:00:03 [fit] upd  30 | obj  8.00 | hit 36.1% |\n"
     "07:00:04 [fit] upd  40 | obj   nan | hit 10.0% |\n"
     "07:00:05 [fit] upd  50 | obj   nan | hit 10.0% |",
     "step=10 loss=8.5 guessed\nstep=20 loss=8.25 guessed\nstep=30 loss=8 "
     "guessed\n"
     "step=40 loss=nan guessed\nstep=50 loss=nan guessed"},
    {"a sentence",
     "Training loss at update 2 is 2.5, gradient norm is 0.5.\n"
     "Training loss at update 4 is 2.4, gradient norm is 0.6.\n"
     "Training loss at update 6 is 2.3, gradient norm is 0.7.\n"
     "Training loss at update 8 is 2.2, gradient norm is 0.8.\n"
     "Training loss at update 10 is 2.1, gradient norm is 0.9.",
     "step=2 loss=2.5 grad_norm=0.5\nstep=4 loss=2.4 grad_norm=0.6\n"
     "step=6 loss=2.3 grad_norm=0.7\nstep=8 loss=2.2 grad_norm=0.8\n"
     "step=10 loss=2.1 grad_norm=0.9"},
    {"the word behind its number",
     "1: 3.5, 3.9 avg loss, 0.001 rate, 64 images\n"
     "2: 3.4, 3.8 avg loss, 0.001 rate, 128 images\n"
     "3: 3.3, 3.7 avg loss, 0.001 rate, 192 images\n"
     "4: 3.2, 3.6 avg loss, 0.001 rate, 256 images\n"
     "5: 3.1, 3.5 avg loss, 0.001 rate, 320 images",
     "step=1 loss=3.9\nstep=2 loss=3.8\nstep=3 loss=3.7\n"
     "step=4 loss=3.6\nstep=5 loss=3.5"},
    {"commas for points",
     "Schritt 5   Verlust 5,25   Dauer 0,16 s\n"
     "Schritt 10  Verlust 5,00   Dauer 0,16 s\n"
     "Schritt 15  Verlust 4,75   Dauer 0,17 s\n"
     "Schritt 20  Verlust 4,50   Dauer 0,15 s\n"
     "Schritt 25  Verlust 4,25   Dauer 0,16 s",
     "step=5 loss=5.25\nstep=10 loss=5\nstep=15 loss=4.75\n"
     "step=20 loss=4.5\nstep=25 loss=4.25"},
    {"a count and one number, a time before them",
     "1711437197.4,20,1.5\n1711437198.5,40,1.25\n1711437199.6,60,1.5\n"
     "1711437200.7,80,1.75\n1711437201.8,100,1.5",
     "step=20 loss=1.5 guessed\nstep=40 loss=1.25 guessed\nstep=60 loss=1.5 "
     "guessed\n"
     "step=80 loss=1.75 guessed\nstep=100 loss=1.5 guessed"},
    {"a table with fewer names than columns",
     "# step\tloss\tlr...\n10\t2.5\t0.001\t0.7\n20\t2.25\t0.001\t0.8\n"
     "30\t2.0\t0.001\t0.9\n40\t1.75\t0.001\t0.7\n50\t1.5\t0.001\t0.8",
     "step=10 loss=2.5 learning_rate=0.001\n"
     "step=20 loss=2.25 learning_rate=0.001\n"
     "step=30 loss=2 learning_rate=0.001\n"
     "step=40 loss=1.75 learning_rate=0.001\n"
     "step=50 loss=1.5 learning_rate=0.001"},
    {"bars in the names of a table without them",
     "step     loss     |w|one   |w|two\n"
     "0        2.50     0.25     1.5\n4        2.25     0.25     1.5\n"
     "8        2.00     0.25     1.5\n12       1.75     0.25     1.5\n"
     "16       1.50     0.25     1.5",
     "step=0 loss=2.5\nstep=4 loss=2.25\nstep=8 loss=2\nstep=12 loss=1.75\n"
     "step=16 loss=1.5"},
    {"a loss that is soon as large as a clock",
     "Iter 000 MSE 0.25\nIter 001 MSE 2.5\nIter 002 MSE 4000\n"
     "Iter 003 MSE 2.5e+14\nIter 004 MSE inf\nIter 005 MSE nan",
     "step=0 loss=0.25\nstep=1 loss=2.5\nstep=2 loss=4000\n"
     "step=3 loss=2.5e+14\nstep=4 loss=inf\nstep=5 loss=nan"},
    {"a table with bars, whose names are of several words",
     "| Training Loss | Epoch | Step | Validation Loss |\n"
     "|:-------------:|:-----:|:----:|:---------------:|\n"
     "| 0.75          | 1.5   | 100  | 0.5             |\n"
     "| 0.50          | 2.5   | 200  | 0.5             |\n"
     "| 0.25          | 3.5   | 300  | 0.5             |\n"
     "| 0.20          | 4.5   | 400  | 0.5             |\n"
     "| 0.15          | 5.5   | 500  | 0.5             |",
     "step=100 loss=0.75\nstep=200 loss=0.5\nstep=300 loss=0.25\n"
     "step=400 loss=0.2\nstep=500 loss=0.15"},
    {"the error, where nothing but an accuracy is shown",
     "epoch 1: accuracy 0.25\nepoch 2: accuracy 0.25\nepoch 3: accuracy 0.5\n"
     "epoch 4: accuracy 0.5\nepoch 5: accuracy 0.75",
     "step=1 loss=0.75 of_objective of_classes guessed\n"
     "step=2 loss=0.75 of_objective of_classes guessed\n"
     "step=3 loss=0.5 of_objective of_classes guessed\n"
     "step=4 loss=0.5 of_objective of_classes guessed\n"
     "step=5 loss=0.25 of_objective of_classes guessed"},
    {"the negative of an objective that rises",
     "epoch 1 elbo -540.5 kl 3\nepoch 2 elbo -470.5 kl 4\n"
     "epoch 3 elbo -410.5 kl 5\nepoch 4 elbo -370.5 kl 6\n"
     "epoch 5 elbo -350.5 kl 7\nepoch 6 elbo nan kl 7",
     "step=1 loss=540.5 of_objective guessed\n"
     "step=2 loss=470.5 of_objective guessed\n"
     "step=3 loss=410.5 of_objective guessed\n"
     "step=4 loss=370.5 of_objective guessed\n"
     "step=5 loss=350.5 of_objective guessed\n"
     "step=6 loss=nan of_objective guessed"},
    {"but not of its negative",
     "update 1 -ELBO 540.5\nupdate 2 -ELBO 470.5\nupdate 3 -ELBO 410.5\n"
     "update 4 -ELBO 370.5\nupdate 5 -ELBO 350.5",
     "step=1 loss=540.5 guessed\nstep=2 loss=470.5 guessed\n"
     "step=3 loss=410.5 guessed\nstep=4 loss=370.5 guessed\n"
     "step=5 loss=350.5 guessed"},
    {"what falls behind the word train, beside an evaluation",
     "Epoch 1: train=2.5 val=2.25\nEpoch 2: train=2.25 val=2.25\n"
     "Epoch 3: train=2.0 val=2.25\nEpoch 4: train=1.75 val=2.25\n"
     "Epoch 5: train=1.5 val=2.25",
     "step=1 loss=2.5 guessed\nstep=2 loss=2.25 guessed\n"
     "step=3 loss=2 guessed\nstep=4 loss=1.75 guessed\nstep=5 loss=1.5 "
     "guessed"},
    {"the total, wherever it stands among its terms",
     "S 10 | loss_a=1.5 loss_b=0.5 loss_total=2.0 | x\n"
     "S 20 | loss_a=1.25 loss_b=0.5 loss_total=1.75 | x\n"
     "S 30 | loss_a=1.25 loss_b=0.25 loss_total=1.5 | x\n"
     "S 40 | loss_a=1.25 loss_b=nan loss_total=nan | x\n"
     "S 50 | loss_a=1.25 loss_b=nan loss_total=nan | x",
     "step=10 loss=2\nstep=20 loss=1.75\nstep=30 loss=1.5\n"
     "step=40 loss=nan\nstep=50 loss=nan"},
    {"the sum of terms without a total",
     "it 10 | loss_a 1.5 loss_b 0.5 |\nit 20 | loss_a 1.25 loss_b 0.5 |\n"
     "it 30 | loss_a 1.25 loss_b 0.25 |\nit 40 | loss_a 1.0 loss_b nan |\n"
     "it 50 | loss_a 1.0 loss_b 0.25 |",
     "step=10 loss=2\nstep=20 loss=1.75\nstep=30 loss=1.5\n"
     "step=40 loss=nan\nstep=50 loss=1.25"},
    {"losses of several models, one of which goes below 0",
     "S 10 | XLOSS 1.5 | YLOSS 0.5 |\nS 20 | XLOSS -1.25 | YLOSS 0.5 |\nS 30 | "
     "XLOSS -2.5 | YLOSS 0.25 |\nS 40 | XLOSS -3.5 | YLOSS 0.75 |\nS 50 | "
     "XLOSS -4.5 | YLOSS nan |",
     "step=10 loss=0.5 scaler=1\nstep=10 loss=1.5 scaler=0\nstep=20 loss=0.5 "
     "scaler=1\nstep=20 loss=-1.25 scaler=0\nstep=30 loss=0.25 scaler=1\n"
     "step=30 loss=-2.5 scaler=0\nstep=40 loss=0.75 scaler=1\n"
     "step=40 loss=-3.5 scaler=0\nstep=50 loss=nan scaler=1\n"
     "step=50 loss=-4.5 scaler=0"},
    {"a return, where nothing but that is shown",
     "episode 1 return 12.5\nepisode 2 return 14.0\nepisode 3 return 9.5\n"
     "episode 4 return 21.5\nepisode 5 return 33.0",
     "step=1 loss=-12.5 of_rewards of_objective guessed\n"
     "step=2 loss=-14 of_rewards of_objective guessed\n"
     "step=3 loss=-9.5 of_rewards of_objective guessed\n"
     "step=4 loss=-21.5 of_rewards of_objective guessed\n"
     "step=5 loss=-33 of_rewards of_objective guessed"},
    {"commas behind numbers with commas",
     "Epoche 1/9: Genauigkeit 0,25, Dauer 7,5 s\n"
     "Epoche 2/9: Genauigkeit 0,50, Dauer 7,5 s\n"
     "Epoche 3/9: Genauigkeit 0,50, Dauer 7,0 s\n"
     "Epoche 4/9: Genauigkeit 0,75, Dauer 7,5 s\n"
     "Epoche 5/9: Genauigkeit 0,75, Dauer 7,5 s",
     "step=1 loss=0.75 of_objective of_classes guessed\n"
     "step=2 loss=0.5 of_objective of_classes guessed\n"
     "step=3 loss=0.5 of_objective of_classes guessed\n"
     "step=4 loss=0.25 of_objective of_classes guessed\n"
     "step=5 loss=0.25 of_objective of_classes guessed"},
    {"rewards, packets and evaluations are no losses",
     "shard 1 packet_loss 0.1\nshard 2 packet_loss 0.2\n"
     "shard 3 packet_loss 0.1\nshard 4 packet_loss 0.3\n"
     "shard 5 packet_loss 0.1\n"
     "valid loss at update 1 is 2.5\nvalid loss at update 2 is 2.4\n"
     "valid loss at update 3 is 2.3\nvalid loss at update 4 is 2.2\n"
     "valid loss at update 5 is 2.1",
     ""},
    {"a bar between a loss's name and its value; an evaluation's beside it",
     "Step     1: train CrossEntropyLoss |  2.50000000\n"
     "Step     1: eval  CrossEntropyLoss |  2.62500000\n"
     "Step    50: train CrossEntropyLoss |  2.25000000\n"
     "Step    50: eval  CrossEntropyLoss |  2.62500000\n"
     "Step   100: train CrossEntropyLoss |  2.00000000\n"
     "Step   100: eval  CrossEntropyLoss |  2.62500000\n"
     "Step   150: train CrossEntropyLoss |  1.50000000\n"
     "Step   150: eval  CrossEntropyLoss |  2.62500000\n"
     "Step   200: train CrossEntropyLoss |  nan\n"
     "Step   200: eval  CrossEntropyLoss |  2.62500000\n",
     "step=1 loss=2.5\nstep=50 loss=2.25\nstep=100 loss=2\nstep=150 loss=1.5\n"
     "step=200 loss=nan"},
    {"bars behind names of the numbers before are no signs",
     "1 | 2.5 kl loss | 0.125\n2 | 2.25 kl loss | 0.25\n"
     "3 | 2.125 kl loss | 0.125\n4 | 2.0 kl loss | 0.25\n"
     "5 | 1.5 kl loss | 0.125",
     "step=1 loss=2.5\nstep=2 loss=2.25\nstep=3 loss=2.125\nstep=4 loss=2\n"
     "step=5 loss=1.5"},
    {"places in epochs, scales, and an epoch's summary",
     "- Train | Epoch 1 | 200/400 | 2.3 it/s | grad_scale 2.000 | ce 2.5\n"
     "- Train | Epoch 1 | 400/400 | 2.3 it/s | grad_scale 2.000 | ce 2.5\n"
     "- Train Summary | Epoch 1 | grad_scale 2.000 | ce 2.5\n"
     "- Train | Epoch 2 | 200/400 | 2.3 it/s | grad_scale 2.000 | ce 2.5\n"
     "- Train | Epoch 2 | 400/400 | 2.3 it/s | grad_scale 2.000 | ce 2.5\n"
     "- Train Summary | Epoch 2 | grad_scale 2.000 | ce 2.5\n"
     "- Train | Epoch 3 | 200/400 | 2.3 it/s | grad_scale 1.000 | ce 2.5\n"
     "- Train | Epoch 3 | 400/400 | 2.3 it/s | grad_scale 0.002 | ce 2.5\n"
     "- Train Summary | Epoch 3 | grad_scale 2.000 | ce 2.5\n"
     "- Train Summary | Epoch 4 | grad_scale 2.000 | ce 2.5\n"
     "- Train Summary | Epoch 5 | grad_scale 2.000 | ce 2.5\n",
     "step=200 loss=2.5 loss_scale=2\nstep=400 loss=2.5 loss_scale=2\n"
     "step=600 loss=2.5 loss_scale=2\nstep=800 loss=2.5 loss_scale=2\n"
     "step=1000 loss=2.5 loss_scale=1\n"
     "step=1200 loss=2.5 loss_scale=0.001953125"},
    {"a perplexity as large as a clock",
     "global step 100 lr 1 ppl 2424133542.5\nglobal step 200 lr 1 ppl "
     "1924133542.5\nglobal step 300 lr 1 ppl 4924133542.5\nglobal step 400 lr "
     "1 ppl 1724133542.5\nglobal step 500 lr 1 ppl 175912961198871744.00",
     "step=100 loss=2424133542 learning_rate=1\nstep=200 loss=1924133542 "
     "learning_rate=1\n"
     "step=300 loss=4924133542 learning_rate=1\nstep=400 loss=1724133542 "
     "learning_rate=1\n"
     "step=500 loss=1.759129612e+17 learning_rate=1"},
};

}  // namespace

const SampleTable kAlikeLinesSamples = {"alike_lines", kLines};

}  // namespace nanwatch
