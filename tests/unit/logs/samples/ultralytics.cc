// Ultralytics YOLO (an epoch a line): sample lines in its texture, and what
// they say.

#include "tests/unit/logs/samples/samples.h"

namespace nanwatch {
namespace {

constexpr SampleLines kLines[] = {
    {"a bar's end is the epoch",
     "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       "
     "Size\n"
     "      1/100      2.51G       1.25        2.5       1.25         50       "
     " "
     "640:  50%|#####     | 6/12 [00:03<00:00,  3.41it/s]\n"
     "      1/100      2.51G       1.25        2.5       1.25         50       "
     " "
     "640: 100%|##########| 12/12 [00:03<00:00,  3.41it/s]\n"
     "      2/100      2.51G        nan        2.5       1.25         50       "
     " "
     "640: 100%|##########| 12/12 [00:03<00:00,  3.41it/s]\n"
     "                 Class     Images  Instances      Box(P          R: 100%"
     "|##########| 4/4 [00:00<00:00]",
     "step=1 loss=5\nstep=2 loss=nan"},
    {"a total is the loss, also of four parts; NaN is told within a bar",
     "     Epoch   gpu_mem      GIoU       obj       cls     total   targets  "
     "img_size\n"
     "      0/99      2.1G      0.25      0.25       0.5         1       150   "
     " "
     "   640: 100%|##########| 27/27 [00:15<00:00,  1.57it/s]\n"
     "      1/99      2.1G       nan      0.25       0.5       nan       150   "
     " "
     "   640:   3%|3         | 1/27 [00:01<00:15,  1.57it/s]\n"
     "      1/99      2.1G       nan      0.25       0.5       nan       150   "
     " "
     "   640: 100%|##########| 27/27 [00:15<00:00,  1.57it/s]\n"
     "      Epoch    GPU_mem   box_loss   seg_loss   cls_loss   dfl_loss  "
     "Instances       Size\n"
     "       2/99      2.1G      0.25      0.25       0.5         1       150  "
     " "
     "    640: 100%|##########| 27/27 [00:15<00:00,  1.57it/s]",
     "step=0 loss=1\nstep=1 loss=nan\nstep=2 loss=2"},
    {"each heading begins an epoch, also the same again",
     "     Epoch   GPU_mem  train_loss   test_loss    top1_acc    top5_acc\n"
     "       1/1      2.1G      0.25       0.5       0.5         1: 100%|###| "
     "9/9 [00:15<00:00,  1.57it/s]\n"
     "     Epoch   GPU_mem  train_loss   test_loss    top1_acc    top5_acc\n"
     "       1/1      2.1G       nan       0.5       0.5         1: 100%|###| "
     "9/9 [00:15<00:00,  1.57it/s]",
     "step=1 loss=0.25\nstep=1 loss=nan"},
    {"a file of results; of four losses the last may be the whole",
     "  0/9  1.5G  0.25  0.5  0  0.75  49  448  0  0  0  0  0.5  0.5  0\n"
     "  1/9  1.5G  0.25  0.5  0  nan  49  448  0  0  0  0  0.5  0.5  0\n"
     "  2/9  1.5G  0.25  0.5  0.5  49  448  0.5  0.5  0.25  0.1  0.5  0.5  0\n"
     "  3/9  1.5G  0.25  0.5  0.5  49  448",
     "step=0 loss=0.75\nstep=1 loss=nan\nstep=2 loss=1.25"},
    {"a row each so many batches, behind a clock",
     "10:58:00 [INFO]:    Epoch    Batch    box   total  nTargets   time\n"
     "10:59:00 [INFO]:     0/29    0/160   0.25     2.5        83    5.5\n"
     "10:59:30 [INFO]:     0/29   80/160   0.25    -1.5        83    5.5\n"
     "  Image    Total       P       R\n     32    30353       0       0\n"
     "11:59:00 [INFO]:     1/29    0/160   0.25     nan        83    5.5",
     "step=0 loss=2.5\nstep=80 loss=-1.5\n"
     "step=160 loss=nan"},
};

}  // namespace

const SampleTable kUltralyticsSamples = {"ultralytics", kLines};

}  // namespace nanwatch
