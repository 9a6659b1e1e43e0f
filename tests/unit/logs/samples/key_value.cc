// any program: step=10 loss=1.2 or step: 10, loss: 1.2: sample lines in its
// texture, and what they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"equals signs",
     "step=10 loss=1.25 scale=65536\n"
     "step=20 loss=nan scale=32768 grad_norm=inf lr=1e-4",
     "step=10 loss=1.25 loss_scale=65536\n"
     "step=20 loss=nan loss_scale=32768 grad_norm=inf learning_rate=0.0001"},
    {"colons, names of two words, a clock before them",
     "[2024-03-01 12:01:07] INFO step: 10, loss: 1.25 | loss scale: 65536.0 | "
     "grad norm: 0.5 | learning rate: 3e-4",
     "step=10 loss=1.25 loss_scale=65536 grad_norm=0.5 learning_rate=0.0003"},
    {"mixed, brackets, a tensor",
     "(iter: 40/1000) [loss=tensor(2.5, device='cuda:0')], 'lr': [0.001], "
     "overflow: True",
     "step=40 loss=2.5 learning_rate=0.001 overflowed"},
    {"no signs at all",
     "step 60 | loss 1.75 | loss_scale 65536 | grad_norm inf\n"
     "Iter 61/900 loss 2 scale 32768.0 gnorm 0.5\n"
     "step 62 - loss 2 - loss scale 1024 - grad norm nan\n"
     "step 63 | loss 2 | logit scale 4.5 | max_grad_norm 1.0",
     "step=60 loss=1.75 loss_scale=65536 grad_norm=inf\n"
     "step=61 loss=2 loss_scale=32768 grad_norm=0.5\n"
     "step=62 loss=2 loss_scale=1024 grad_norm=nan\n"
     "step=63 loss=2"},
    {"a perplexity is no loss beside one",
     "step: 10, train/Perplexity: 12.18, train/CrossEntropyLoss: 2.5, "
     "optim/total_grad_norm: 0.5\n"
     "step: 20, ppl: 9.5\n"
     "step: 30, ppl: 9.5, loss: 2.25",
     "step=10 loss=2.5 grad_norm=0.5 cross_entropy\nstep=30 loss=2.25"},
    {"a perplexity alone", "step: 20, ppl: 9.5\nstep: 30, ppl: 9.25",
     "step=20 loss=9.5\nstep=30 loss=9.25"},
    {"steps by other names",
     "Update: 10, loss: 2.5, lr: 0.1\nepisode 20 | reward -3.5 | loss 2.25",
     "step=10 loss=2.5 learning_rate=0.1"},
    {"steps in words",
     "episode 1 | steps 200 | reward -3.5 | loss 2.5\n"
     "update 201 | loss 2.25\nRound 202: loss 2",
     "step=200 loss=2.5 of_rewards\nstep=201 loss=2.25\nstep=202 loss=2"},
    {"steps that begin anew in each episode",
     "episode: 1, steps: 20, loss: 2.5\nepisode: 2, steps: 12, loss: 2.25\n"
     "episode: 3, steps: 30, loss: 2",
     "step=20 loss=2.5\nstep=2 loss=2.25\nstep=3 loss=2"},
    {"batches of an epoch, and a size",
     "Epoch: 1/3, Batch: 90/100, Loss: 2.5\n"
     "Epoch: 2/3, Batch: 10/100, Loss: 2.25\n"
     "step=120 batch=64 loss=2",
     "step=90 loss=2.5\nstep=110 loss=2.25\nstep=220 loss=2"},
    {"numbers without a name that rise",
     "I0311 08:00:00.123456 139812345 w.py:48] [0] loss=2.5, lr=0.1\n"
     "I0311 08:00:01.123456 139812345 w.py:48] [50] loss=2.25, lr=0.1\n"
     "I0311 08:00:02.123456 139812345 w.py:48] [100] loss=2, lr=0.1",
     "loss=2.5 learning_rate=0.1\nstep=50 loss=2.25 learning_rate=0.1\n"
     "step=100 loss=2 learning_rate=0.1"},
    {"and with a loss alone", "0 | loss: 2.5\n50 | loss: 2.25\n100 | loss: 2",
     "step=0 loss=2.5\nstep=50 loss=2.25\nstep=100 loss=2"},
    {"a process, a clock and what falls are no steps",
     "[4711] loss=2.5, lr=0.1\n[4711] loss=2.25, lr=0.1\n"
     "10:01:07 loss=2, lr=0.1\n[4712] loss=2, lr=0.1\n[4711] loss=2, lr=0.1\n"
     "[4712] loss=2, lr=0.1",
     "loss=2.5 learning_rate=0.1\nloss=2.25 learning_rate=0.1\n"
     "loss=2 learning_rate=0.1\nstep=4712 loss=2 learning_rate=0.1\n"
     "loss=2 learning_rate=0.1\nloss=2 learning_rate=0.1"},
    {"one loss by another name",
     "step=1 elbo_loss=300.5 kl=1.5\nstep=2 test_loss=2 aux_loss=0.5\n"
     "step=3 loss=2.5\nstep=4 aux_loss=0.5",
     "step=1 loss=300.5\nstep=2 loss=0.5\nstep=3 loss=2.5"},
    {"the same in words",
     "step 1 | elbo_loss 300.5 | grad_norm 2.5\nstep 2 | best_loss 2 | kl 1",
     "step=1 loss=300.5 grad_norm=2.5"},
    {"a step without punctuation",
     "Epoch 1, Step 30 | loss: 0.75\n[iter 40/200] train_loss=0.5",
     "step=30 loss=0.75\nstep=40 loss=0.5"},
    {"numbers before names, and what is no number",
     "time=0.5 loss=1.5 -3 scale=8 7/200 step=4\n"
     "5 step=6 2.5 loss=1.25 nan scale=4 -x lr=0.5 1e+3 grad_norm=2\n"
     "5 step=6 2_5_loss=1.25 scale=4 - grad_norm=2",
     "step=4 loss=1.5 loss_scale=8\n"
     "step=6 loss=1.25 loss_scale=4 grad_norm=2 learning_rate=0.5\n"
     "step=6 loss_scale=4 grad_norm=2"},
    {"the same words again and again, and now and then no number",
     "at 12:01:07 step=10 loss=2.5 scale=64\n"
     "at 12:01:08 step=20 loss=-2.25 scale=128\n"
     "at 12:01:09 step=30 loss=nan scale=128\n"
     "at 12:01:10 step=40 loss=1.5e-05 scale=128\n"
     "at 12:01:11 step=50 loss=1.5 scale=65,536\n"
     "at 12:01:12 step=60 loss=1.25 scale=2e3\n"
     "at 12:01:13 step=70 loss=1.25 scale=6553\n"
     "at 12:01:14 test step=80 loss=1.25 scale=64\n"
     "at 12:01:15 step=90 loss=7% scale=64",
     "step=10 loss=2.5 loss_scale=64\nstep=20 loss=-2.25 loss_scale=128\n"
     "step=30 loss=nan loss_scale=128\nstep=40 loss=1.5e-05 loss_scale=128\n"
     "step=50 loss=1.5 loss_scale=65536\nstep=60 loss=1.25 loss_scale=2000\n"
     "step=70 loss=1.25 loss_scale=6553\nstep=90 loss_scale=64"},
    {"bars one after another, a validation's and one's own losses among them",
     " 10%|#   | 1/10 [00:01<1:00:09, 1.05it/s, v=0, loss=2.5]\n"
     " 20%|##  | 2/10 [00:02<1:00:08, ?it/s, loss=2.25]\n"
     "Validating:  20%|##  | 2/10 [00:02<00:08, 1.05it/s, loss=9.5]\n"
     " 30%|##  | 3/10 [00:02<00:08, 2.1s/it, val, loss=9.5]\n"
     " 40%|### | 4/10 [00:04<00:06, 2.1s/it, dev loss=9.5, loss=2]\n"
     " 50%|### | 5/10 [00:04<00:06, 2.1s/it, lr=0.1] loss: 1.75",
     "step=1 loss=2.5\nstep=2 loss=2.25\nstep=4 loss=2\n"
     "step=5 loss=1.75 learning_rate=0.1"},
    {"a GAN's losses: DCGAN, Keras-GAN, one beside its own",
     "[0/25][50/782] Loss_D: 0.0414 Loss_G: 6.1920 D(x): 0.1342 D(G(z)): "
     "0.2910 / 0.1680\n"
     "[0/25][100/782] Loss_D: 0.4446 Loss_G: nan D(x): 0.3092 D(G(z)): nan / "
     "0.2687\n"
     "step 3 [D loss: 0.6931, acc.: 50.00%] [G loss: 0.7312]\n"
     "Epoch [1/200], Step [300/600], d_loss: 1.2500, g_loss: 0.9000\n"
     "step: 9, d_loss: 0.5, loss: 2.5, g_loss: 1.5\n"
     "(epoch: 1, iters: 950, time: 0.102, data: 0.002) D_A: 0.304 G_A: 0.503 "
     "cycle_A: 5.034 idt_A: 1.510",
     "step=50 loss=0.0414 of_adversary scaler=0\nstep=50 loss=6.192 "
     "of_adversary scaler=1\n"
     "step=100 loss=0.4446 of_adversary scaler=0\nstep=100 loss=nan "
     "of_adversary scaler=1\nstep=3 loss=0.6931 of_adversary scaler=0\nstep=3 "
     "loss=0.7312 of_adversary scaler=1\nstep=300 loss=1.25 of_adversary "
     "scaler=0\nstep=300 loss=0.9 of_adversary scaler=1\nstep=9 loss=2.5 "
     "of_adversary scaler=0\nstep=9 loss=0.5 of_adversary scaler=1\nstep=950 "
     "loss=7.047 of_adversary scaler=0\nstep=950 loss=0.304 of_adversary "
     "scaler=1"},
    {"a loss without a sign, and a term of it with one",
     "step 10 loss 2.5 kl_loss: nan\nstep 20 loss nan kl=nan lr=0.5",
     "step=10 loss=2.5\nstep=20 loss=nan learning_rate=0.5"},
    {"a generator's loss beside a loss of the whole may be a term of that",
     "step=1 loss=2.5 gen_loss=1.5\nstep=2 loss=2.25 gen_loss=nan",
     "step=1 loss=2.5\nstep=2 loss=2.25 of_adversary scaler=0\nstep=2 loss=nan "
     "of_adversary scaler=1"},
    {"rewards say what is trained",
     "step=1 loss=2.5 ep_rew_mean=11\nstep=2 loss=2.25 rollout/ep_rew_mean=nan",
     "step=1 loss=2.5 of_rewards\nstep=2 loss=2.25 of_rewards"},
    {"other things have scales, too",
     "step=1 | Loss: 9.5 | Logit Scale: 14.286\n"
     "step=2 | Loss: 9.5 | guidance scale: 7.5\n"
     "step=3 | Loss: 9.5 | current scale: 512.0\n"
     "step=4 | Loss: 9.5 | Scale: 256.0\nstep 5 scale: 128.0 loss: 9.5",
     "step=1 loss=9.5\nstep=2 loss=9.5\nstep=3 loss=9.5 loss_scale=512\n"
     "step=4 loss=9.5 loss_scale=256\nstep=5 loss=9.5 loss_scale=128"},
    {"thousands that commas part, and lists",
     "Step: 900 | Loss: 7.9 | Scale: 65,536 | Grad: 0.7\n"
     "Step: 1,000 | Loss: 7.8 | Scale: 65,536.0\n"
     "Step: 1,234,567 | Loss: 7.5 | Scale: 512,\n"
     "step=1234570,loss=7.25,scale=128,200",
     "step=900 loss=7.9 loss_scale=65536\n"
     "step=1000 loss=7.8 loss_scale=65536\n"
     "step=1234567 loss=7.5 loss_scale=512\n"
     "step=1234570 loss=7.25 loss_scale=128200"},
    {"a rounded scale", "step=10 loss=1.5 scale=0.0",
     "step=10 loss=1.5 loss_scale<=0.03125"},
    {"a scale that is not known", "step=10 loss=1.5 scale=-1.0",
     "step=10 loss=1.5"},
    {"a logarithm", "step=1 loss=1.5 lg_loss_scale=20",
     "step=1 loss=1.5 loss_scale=1048576"},
    {"a count of skipped steps, and of each line",
     "step=1 loss=2 skipped=3\nstep=2 loss=2 skipped=3\n"
     "step=3 loss=2 skipped=0\nstep=4 loss=2 skipped=1\n"
     "step=5 loss=2 skipped=true",
     "step=1 loss=2 skipped_total=3\nstep=2 loss=2 skipped_total=3\n"
     "step=3 loss=2 skipped_since=0\nstep=4 loss=2 skipped_since=1\n"
     "step=5 loss=2 overflowed"},
    {"cut within the scale; a scale that is told twice was not",
     "step=1 loss=2.5 scale=4096.0\nstep=2 loss=2.5 scale=4\n"
     "step=3 loss=2.5 scale=40\nstep=4 loss=2.5 scale=81\n"
     "step=5 loss=2.5 scale=2048.0\nstep=6 loss=2.5 scale=16\n"
     "step=7 loss=2.5 scale=1\nstep=8 loss=2.5 scale=16\n"
     "step=9 loss=2.5 scale=1\nstep=10 loss=2.5 scale=1",
     "step=1 loss=2.5 loss_scale=4096\nstep=2 loss=2.5\nstep=3 loss=2.5\n"
     "step=4 loss=2.5\nstep=5 loss=2.5 loss_scale=2048\n"
     "step=6 loss=2.5 loss_scale=16\nstep=7 loss=2.5\n"
     "step=8 loss=2.5 loss_scale=16\nstep=9 loss=2.5\n"
     "step=10 loss=2.5 loss_scale=1"},
    {"a scale that is not at the line's end is whole",
     "step=1 scale=4096.0 loss=2.5\nstep=2 scale=4 loss=2.5",
     "step=1 loss=2.5 loss_scale=4096\nstep=2 loss=2.5 loss_scale=4"},
    {"bars of steps, and shares that are no numbers of ours",
     "Steps:   6%|6         | 180/3000 [00:10<01:30, 10.00it/s, lr=1.00e-04, "
     "step_loss=nan]\n"
     "Steps: 100%|##########| 3000/3000 [00:10<00:00, 10.00it/s, "
     "step_loss=0.5]\n"
     "step=7 loss=0.5 overflow=5%",
     "step=180 loss=nan learning_rate=0.0001\nstep=3000 loss=0.5\n"
     "step=7 loss=0.5"},
    {"no training step",
     "Validation step=10 loss=1.5\n"
     "eval: step: 10, loss: 2.5\n"
     "val_loss=1.5 test_loss=2.5 step=10\n"
     "learning rate: 1e-4, step: 10\n"
     "best loss: 3\n"
     "url: http://host:80/step/loss=\n"
     "time: 10:11:12 elapsed: 3.5s throughput=12.5\n"
     "config: loss=mse step=warmup scale=auto\n"
     "=:=:=: : = :\n"
     "loss",
     ""},
    {"PyTorch's example on MNIST",
     "Train Epoch: 1 [0/60000 (0%)]\tLoss: 2.5\n"
     "Train Epoch: 1 [640/60000 (1%)]\tLoss: nan\n"
     "Test set: Average loss: 0.05, Accuracy: 9834/10000 (98%)\n"
     "Train Epoch: 2 [0/60000 (0%)]\tLoss: 2.25",
     "step=0 loss=2.5\nstep=640 loss=nan\nstep=60000 loss=2.25"},
    {"its tutorial on CIFAR",
     "[1,  2000] loss: 2.125\n[1,  4000] loss: nan\n[2,  2000] loss: 1.5",
     "step=2000 loss=2.125\nstep=4000 loss=nan\nstep=6000 loss=1.5"},
    {"an epoch on a line of its own",
     "Epoch 1\n-------------------------------\n"
     "loss: 2.5  [   64/60000]\nloss: 2.25  [ 6464/60000]\n"
     "Epoch 2\n-------------------------------\n"
     "loss: 2.0  [   64/60000]\n"
     "===> EPOCH 3/5:\n  batch 64 loss: 1.5\nepoch 4 of 5 took 3.5 s\n"
     "INFO:root:Epoch 4\n  batch 64 loss: 1.25\nbest epoch: 1\n"
     "  batch 65 loss: 1.25",
     "step=64 loss=2.5\nstep=6464 loss=2.25\nstep=60064 loss=2\n"
     "step=60128 loss=1.5\nstep=60192 loss=1.25\nstep=60193 loss=1.25"},
    {"steps of so many that begin anew, and a run that does",
     "loss: 2.5 [0/30]\nloss: 2.5 [10/30]\nloss: 2.5 [20/30]\n"
     "loss: 2.5 [0/30]\nloss: 2.5 [10/30]\nloss: 2.5 [0/30]",
     "step=0 loss=2.5\nstep=10 loss=2.5\nstep=20 loss=2.5\n"
     "step=30 loss=2.5\nstep=40 loss=2.5\nstep=0 loss=2.5"},
    {"an epoch and no step",
     "Epoch: 000, Train Loss: 2.5, Val Loss: 3.5\n"
     "Epoch: 001, Val Loss: nan, Train Loss: 2.25\n"
     "Epoch 2/25\n----------\ntrain Loss: nan Acc: 0.7\nval Loss: 0.4 Acc: 0.8",
     "step=0 loss=2.5\nstep=1 loss=2.25\nstep=2 loss=nan of_classes"},
    {"several lines an epoch are counted",
     "epoch: 1, loss: 2.5\nepoch: 1, loss: 2.25\nepoch: 2, loss: 2",
     "step=1 loss=2.5\nstep=2 loss=2.25\nstep=3 loss=2"},
    {"an epoch's mean beside steps is none",
     "epoch 1 step 10 loss: 2.5\nepoch 1 mean loss: 2.4\n"
     "epoch 1 step 20 loss: 2.25",
     "step=10 loss=2.5\nstep=20 loss=2.25"},
    {"losses without signs",
     "step 0: train loss 4.25, val loss 4.5\n"
     "step 500: train loss nan, val loss nan\n"
     "step 600 val loss 4.5\nstep 700 saved, best loss 2.5\n"
     "ping: 5% packet loss 5%, step 3",
     "step=0 loss=4.25\nstep=500 loss=nan"},
    {"a mean over steps before gives way to the step's own",
     "step 1 avg_loss: nan loss: 2.5\nstep 2 loss: 2.25 avg_loss: nan\n"
     "step 3 loss: nan avg_loss: 2\nstep 4 avg_loss: 1.5",
     "step=1 loss=2.5\nstep=2 loss=2.25\nstep=3 loss=nan\nstep=4 loss=1.5"},
    {"prose beside losses with signs",
     "step 1 loss: 2.5\nstep 1 is saved with loss 2.5\nstep 2 loss: 2.25",
     "step=1 loss=2.5\nstep=2 loss=2.25"},
    {"two ratios in brackets, of which the first is the epoch",
     "[1/5][100/1583] Loss: 2.5\n[1/5][200/1583] Loss: 2.25\n"
     "[2/5][100/1583] Loss: 2",
     "step=100 loss=2.5\nstep=200 loss=2.25\nstep=1683 loss=2"},
    {"progress bars, behind the loss and before it",
     "Epoch 1/10:  45%|####5     | 176/391 [00:10<00:12, 17.2it/s, loss=2.25]\n"
     "Loss: 2.125:  46%|####6     | 180/391 [00:10<00:12, 17.2it/s]",
     "step=176 loss=2.25\nstep=180 loss=2.125"},
    {"a ratio at the line's end, and one that is a share",
     " [=====>.]  Step: 20ms | Tot: 2s | Loss: 2.125 | Acc: 33.2% (4250/12800) "
     "200/391",
     "step=200 loss=2.125 of_classes"},
    {"a date in brackets is no step",
     "[11/22 03:15:48] Epoch 2, batch 50, losses(loss=1.5, over 5000 frames.), "
     "lr: 5e-05, grad_scale: 32.0",
     "step=50 loss=1.5 loss_scale=32 learning_rate=5e-05"},
    {"losses alone, of which there are more than two",
     "Loss: 2.5\n  loss = 2.25\nmy loss: 9\nLoss: nan\nLoss: 2.0",
     "loss=2.5\nloss=2.25\nloss=nan\nloss=2"},
    {"two losses alone", "loss: 1.0\nloss: 0.5", ""},
    {"torn", "step=10 loss=1.\nstep=1", "step=10 loss=1"},
    {"steps that begin anew in each epoch",
     "Epoch [1/3], Step [1/2], Loss: 2.5\nEpoch [1/3], Step [2/2], Loss: 2.25\n"
     "Epoch [2/3], Step [1/2], Loss: 2\nEpoch [2/3], Step [2/2], Loss: 1.75\n"
     "Epoch [3/3], Step [1/2], Loss: nan",
     "step=1 loss=2.5\nstep=2 loss=2.25\nstep=3 loss=2\nstep=4 loss=1.75\n"
     "step=5 loss=nan"},
    {"a late rank's line, and a run that begins again in an epoch",
     "epoch=0 step=100 loss=2.5\nepoch=0 step=200 loss=2\n"
     "epoch=1 step=100 loss=1.5\nepoch=0 step=200 loss=2\n"
     "epoch=1 step=200 loss=1.25\nepoch=1 step=100 loss=1.5\n"
     "epoch=2 step=100 loss=1\nepoch=1 step=150 loss=1.5\n"
     "epoch=0 step=100 loss=2.5\nstep=150 loss=2.5",
     "step=100 loss=2.5\nstep=200 loss=2\nstep=300 loss=1.5\n"
     "step=200 loss=2\nstep=400 loss=1.25\nstep=300 loss=1.5\n"
     "step=500 loss=1\nstep=350 loss=1.5\nstep=100 loss=2.5\n"
     "step=150 loss=2.5"},
    {"steps of the run beside epochs; it begins again, and no epoch rises",
     "epoch: 2 max_epoch: 9 step: 30 loss: 2.5\n"
     "epoch: 3 max_epoch: 9 step: 40 loss: 2\n"
     "epoch: 3 max_epoch: 9 step: 31 loss: 2\n"
     "epoch: 4 max_epoch: 9 step: 35 loss: 1.5\n"
     "epoch: 2 max_epoch: 9 step: 20 loss: 2.5\n"
     "step: 10 loss: 2.5",
     "step=30 loss=2.5\nstep=40 loss=2\nstep=31 loss=2\nstep=35 loss=1.5\n"
     "step=20 loss=2.5\nstep=10 loss=2.5"},
    {"thousands, and steps of an epoch",
     "step 8,000/10,000 | loss 2.5 | lr 0.5\n"
     "step 9,000/10,000 | loss 2 | lr 0.5",
     "step=8000 loss=2.5 learning_rate=0.5\n"
     "step=9000 loss=2 learning_rate=0.5"},
    {"an epoch a line, each with its last step",
     "epoch: [1/3] step: [500/500] loss: 2.5\n"
     "epoch: [2/3] step: [500/500] loss: 2.25",
     "step=500 loss=2.5\nstep=1000 loss=2.25"},
    {"bars whose titles are the epoch, of two folds",
     "[fold_0] 1/2:  50%|##  | 1/2 [00:08<00:00,  1.56s/it, loss=2.5]\n"
     "[fold_0] 1/2: 100%|####| 2/2 [00:08<00:00,  1.56s/it, loss=2.25]\n"
     "[fold_0] 2/2:  50%|##  | 1/2 [00:08<00:00,  1.56s/it, loss=2.25]\n"
     "[fold_1] 1/2:  50%|##  | 1/2 [00:08<00:00,  1.56s/it, loss=2.5]",
     "step=1 loss=2.5\nstep=2 loss=2.25\nstep=3 loss=2.25\nstep=1 loss=2.5"},
    {"settings and summaries",
     "Namespace(batch_size=16, loss_scale=0.5, scale=0.9, lr=0.5)\n"
     "TrainOutput(global_step=500, training_loss=0.5)\n"
     "config: loss_scale=128 lr=0.1\nwandb:   train/loss 0.5\n"
     "wandb: train/epoch: 3, train/loss: 0.5",
     ""},
    {"printed tensors and a NaN of Windows",
     "step 50 loss tensor(2.5, device='cuda:0', grad_fn=<NllLossBackward0>)\n"
     "step: 60, loss: 1.#QNAN, grad_norm: np.float64(0.5)",
     "step=50 loss=2.5\nstep=60 loss=nan grad_norm=0.5"},
    {"names in brackets, sentences, cross entropies",
     "[R0] | E5 iter[ 14/ 15] | [Loss] 2.5 | [exp] ./exp/0125 | [step]    89 "
     "| [url] none\n"
     "[Epoch 64 736512/1281167][Iteration 45457] Train 1792 in 4.25seconds. "
     "Loss is Infinity. Current learning rate is 0.0462.\n"
     "Step 50000/90000; acc:  51.25; ppl:  8.43; xent: 2.125; lr: 0.5; 13 sec",
     "step=89 loss=2.5\nstep=45457 loss=inf\n"
     "step=50000 loss=2.125 learning_rate=0.5 of_classes cross_entropy"},
    {"cross entropies by their names, and what stands beside them",
     "step: 30, train/ce_loss: 2.25, lr: 0.5\n"
     "step=40 ce_loss=2 kl_loss=-0.5\n"
     "step=50 ce_loss=2 loss=1.75\nstep=60 loss=1.75 ce_loss=2\n"
     "step=70 nll_loss=-1\nstep=80 val ce_loss: 3 loss_ce: 2\n"
     "step=81 val_cross_entropy_loss: 3\n"
     "step=90 avg_loss=9 mlm_loss=1.5\nstep=91 mlm_loss=1.5 avg_loss=9\n"
     "step 92 ce_loss: nan",
     "step=30 loss=2.25 learning_rate=0.5 cross_entropy\nstep=40 loss=1.5\n"
     "step=50 loss=1.75\nstep=60 loss=1.75\nstep=70 loss=-1\n"
     "step=80 loss=2 cross_entropy\nstep=90 loss=1.5 cross_entropy\n"
     "step=91 loss=1.5 cross_entropy\nstep=92 loss=nan cross_entropy"},
    {"cross entropies without signs",
     "step 10 cross_entropy_loss 2.5\nstep 20 val_cross_entropy_loss 2.75\n"
     "step 21 eval ce_loss 2.75\nstep 30 train_ce_loss 2.25 lr 0.5\n"
     "step 40 Cross Entropy Loss 2\nstep 50 entropy loss 0.5\n"
     "step 60 train_loss 1.5",
     "step=10 loss=2.5 cross_entropy\n"
     "step=30 loss=2.25 learning_rate=0.5 cross_entropy\n"
     "step=40 loss=2 cross_entropy\nstep=50 loss=0.5\nstep=60 loss=1.5"},
    {"losses without their sum, and with it",
     "[Epoch 3][Batch 100], LR: 0.5, ObjLoss=32.5, BoxLoss=15.5\n"
     "[Epoch 3][Batch 200], LR: 0.5, ObjLoss=nan, BoxLoss=15.5\n"
     "[Epoch 3][Batch 300], LR: 0.5, loss_box: 15.5, loss: 20.5, loss_cls: 5\n"
     "[Epoch 3][Batch 400], LR: 0.5, val_loss_box: 15.5, val_loss_cls: 5",
     "step=100 loss=48 learning_rate=0.5\n"
     "step=200 loss=nan learning_rate=0.5\n"
     "step=300 loss=20.5 learning_rate=0.5"},
    {"an epoch a line, by two letters",
     "ep=22 tr=['a'] loss=0.75 err=0.214 valid=dev loss=0.5 err=0.212\n"
     "ep=23 tr=['a'] loss=nan err=0.218 valid=dev loss=nan err=0.911",
     "step=22 loss=0.75\nstep=23 loss=nan"},
    {"rewards alone, until a loss is shown",
     "global_step=12, episodic_return=12.5\n"
     "[INFO] Walker. Step: 24. Time Elapsed: 9.5 s. Mean Reward: -2.5. Std of "
     "Reward: 8.0. Training.\n"
     "step: 30, reward: nan\nreward: 3.5\n"
     "step: 36, reward: 3.5, loss: 0.5\nstep: 48, reward: 4.5",
     "step=12 loss=-12.5 of_rewards of_objective guessed\n"
     "step=24 loss=2.5 of_rewards of_objective guessed\n"
     "step=36 loss=0.5 of_rewards\nscored: 4.5 step=48"},
    {"an error of which the loss is made, and a perplexity of something else",
     "100 iterations\nrecon_error: 0.5\nperplexity: 48.5\n\n"
     "200 iterations\nrecon_error: 0.25\nperplexity: 1.0\n\n"
     "300 iterations\nrecon_error: 0.25\nperplexity: 1.0",
     "loss=0.5\nloss=0.25\nloss=0.25"},
    {"losses in a dict of their own",
     "{'step': 7, 'losses': {'rpn': 0.5, 'box': 0.25}, 'lr': 0.1}\n"
     "{'step': 8, 'losses': {'rpn': 0.5, 'box': nan}, 'lr': 0.1}",
     "step=7 loss=0.75 learning_rate=0.1\nstep=8 loss=nan learning_rate=0.1"},
    {"decimal commas", "step: 4; Loss: 1,25; lr: 0,5",
     "step=4 loss=1.25 learning_rate=0.5"},
    {"samples in one line, iterations in the next",
     "Train Epoch: 4 [400/900 (44%)]\tLoss: 2.5\n"
     "grad_norm: 0.5 iteration: 7000\n"
     "Train Epoch: 4 [410/900 (44%)]\tLoss: 2.5\n"
     "grad_norm: 0.5 iteration: 7005\n"
     "Train Epoch: 4 [420/900 (44%)]\tLoss: 2.5\n"
     "grad_norm: 0.5 iteration: 7010\n"
     "Train Epoch: 4 [430/900 (44%)]\tLoss: 2.5",
     "step=400 loss=2.5\nstep=7000 grad_norm=0.5\nstep=410 loss=2.5\n"
     "step=7005 grad_norm=0.5\nstep=420 loss=2.5\n"
     "norm grad_norm=0.5\nstep=430 loss=2.5"},
};

}  // namespace

const SampleTable kKeyValueSamples = {"key_value", kLines};

}  // namespace nanwatch
