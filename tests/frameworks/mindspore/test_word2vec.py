import word2vec_verdicts


def test_padding_and_its_cure(daemon, tmp_path):
    word2vec_verdicts.check(daemon, "train_mindspore.py", "mindspore", tmp_path)
