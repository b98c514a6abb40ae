"""Trains a Unigram tokenizer with the parts of XLM-RoBERTa's, but NFKC as its normalizer:

python vocabulary.py <texts> <tokenizer.json> <tokens>
"""

import sys

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

source, out, tokens = sys.argv[1:]
special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
tokenizer = Tokenizer(models.Unigram())
tokenizer.normalizer = normalizers.NFKC()
tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
trainer = trainers.UnigramTrainer(vocab_size=int(tokens), special_tokens=special, unk_token="<unk>", show_progress=False)
tokenizer.train([source], trainer)
tokenizer.post_processor = processors.TemplateProcessing(
    single=["<s>", "$A", "</s>"],
    pair=["<s>", "$A", "</s>", "</s>", "$B", "</s>"],
    special_tokens=[("<s>", 0), ("</s>", 2)],
)
if tokenizer.get_vocab_size() != int(tokens):
    sys.exit(f"The texts give {tokenizer.get_vocab_size()} tokens, not {tokens}.")
tokenizer.save(out)
