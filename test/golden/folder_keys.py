"""Keys of model folders' files, and the values that random_folders.py gives them."""

import re

POSITIONS = 40

FLAGS = [True, False, None]
TOKENS = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
TASK = "torch.nn.modules."
NEW_TOKEN = dict(content="<new>", lstrip=False, normalized=False, rstrip=False, single_word=False, special=True)
LISTED = {
    "tokenizer_config.json": dict(
        tokenizer_class=["BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "MPNetTokenizer", "RobertaTokenizerFast",
                         "XLMRobertaTokenizer", "AlbertTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend", None],
        do_lower_case=FLAGS, strip_accents=FLAGS, tokenize_chinese_chars=FLAGS, add_prefix_space=FLAGS, clean_up_tokenization_spaces=FLAGS,
        trim_offsets=FLAGS, truncation_side=["left", "right"], padding_side=["left", "right"], model_max_length=[10, 16, 512, int(1e30)],
        max_len=[12], max_length=[9, 128], stride=[0, 3], truncation_strategy=["longest_first", "only_first"],
        model_input_names=[["input_ids", "attention_mask"], ["input_ids", "token_type_ids", "attention_mask"], ["input_ids"]],
        additional_special_tokens=[[], ["[NEW]"], [NEW_TOKEN], ["anna"]],
        extra_special_tokens=[[], {}, ["[NEW]"], dict(new_token="<new>"), dict(image_token=NEW_TOKEN)],
        added_tokens_decoder=[{}, {"400": NEW_TOKEN}, {"6": NEW_TOKEN | dict(content="<new>", special=False)}],
        pad_token_type_id=[0, 1], pad_to_multiple_of=[None, 8], split_special_tokens=[True, False], do_basic_tokenize=FLAGS,
        never_split=[["anna"], None], sp_model_kwargs=[{}], vocab_type=["spm"], keep_accents=FLAGS, remove_space=FLAGS, split_by_punct=FLAGS,
        wordpieces_prefix=["##"], clean_text=FLAGS, errors=["strict", "replace"], legacy=FLAGS, from_slow=[False], subword_prefix=["@@"],
        word_delimiter_token=["|"], unk_id=[0, 3], add_bos_token=FLAGS, add_eos_token=FLAGS, name_or_path=["some/model"],
        special_tokens_map_file=["special_tokens_map.json"], use_fast=FLAGS, processor_class=[None], backend=["tokenizers"], is_local=FLAGS,
        verbose=[False], chat_template=[None, "x"], spaces_between_special_tokens=FLAGS, return_tensors=["pt", None],
    ) | {f"{name}_token": [None] for name in TOKENS},
    "config.json": dict(
        hidden_act=["relu", "gelu_new", "silu", "gelu_pytorch_tanh", "tanh"], activation=["relu"], layer_norm_eps=[1e-12, 1e-5, 0.01],
        layer_norm_epsilon=[1e-3], norm_eps=[1e-3], pad_token_id=[0, 1, 3, None], position_embedding_type=["absolute", "relative_key"],
        num_labels=[1, 2, 3], problem_type=["regression", "single_label_classification", "multi_label_classification", None],
        id2label=[{"0": "a", "1": "b", "2": "c"}, {"2": "x", "0": "y", "1": "z"}, {"0": "one"}, {"1": "a", "0": "b", "2": "a"}],
        label2id=[{"no": 2, "maybe": 1, "yes": 0}], architectures=[[], None, ["BertModel"], ["BertForMaskedLM"]],
        tokenizer_class=["BertTokenizer", "RobertaTokenizer", "PreTrainedTokenizerFast", None], is_decoder=FLAGS, add_cross_attention=[False],
        is_encoder_decoder=[False], tie_word_embeddings=[True, False], output_hidden_states=[True, False], output_attentions=[True, False],
        return_dict=[True], use_cache=[True, False], torch_dtype=["float32", None], dtype=["float32"], chunk_size_feed_forward=[0, 4],
        hidden_dropout_prob=[0.0, 0.5], attention_probs_dropout_prob=[0.3], classifier_dropout=[None, 0.4], dropout=[0.3],
        initializer_range=[0.1], bos_token_id=[None, 5], eos_token_id=[None, 5], sep_token_id=[6], cls_token_id=[6], prefix=["x"],
        max_length=[5], temperature=[2.0], pruned_heads=[{}], summary_type=["cls_index", "last"], summary_use_proj=[True, False],
        summary_activation=["tanh", "gelu"], summary_last_dropout=[0.4], pooler_hidden_act=["relu", "gelu"], pooler_dropout=[0.3],
        pos_att_type=["p2c|c2p", ["c2p"], []], position_buckets=[4, 2], max_relative_positions=[-1, 5], norm_rel_ebd=["layer_norm", "none"],
        share_att_key=FLAGS, relative_attention=FLAGS, position_biased_input=FLAGS, conv_kernel_size=[0], legacy=FLAGS,
        inner_group_num=[1], num_hidden_groups=[1], down_scale_factor=[1], gap_size=[0], qa_dropout=[0.2], seq_classif_dropout=[0.9],
        sinusoidal_pos_embds=FLAGS, classifier_pooling=["cls", "mean"], classifier_bias=[False], classifier_activation=["gelu", "relu"],
        local_attention=[4, 8, 128], global_attn_every_n_layers=[1, 2, 3], hidden_activation=["gelu", "relu"], norm_bias=[False],
        global_rope_theta=[160000.0, 10.0], local_rope_theta=[10000.0, 10.0], layer_types=[["full_attention", "sliding_attention"]],
        rope_parameters=[dict(full_attention=dict(rope_type="default", rope_theta=10.0),
                              sliding_attention=dict(rope_type="default", rope_theta=10.0))],
        deterministic_flash_attn=[True], sparse_prediction=[True], repad_logits_with_grad=[True], relative_attention_num_buckets=[32, 8],
        type_vocab_size=[2, 1, 0], max_position_embeddings=[POSITIONS, 30], num_hidden_layers=[2, 1], vocab_size=[90],
        sentence_transformers=[dict(activation_fn=f"{TASK}linear.Identity", version="5.0.0"), dict(version="5.0.0"), None,
                               dict(activation_fn=f"{TASK}activation.Sigmoid")],
        sbert_ce_default_activation_function=[f"{TASK}linear.Identity", f"{TASK}activation.Tanh", None],
    ),
    "sentence_bert_config.json": dict(
        max_seq_length=[8, 16, None, 512], do_lower_case=FLAGS, unpad_inputs=[False, None], model_args=[{}], tokenizer_args=[{}],
        config_args=[{}], model_kwargs=[{}], processor_kwargs=[{}], config_kwargs=[{}], processing_kwargs=[{}, None, dict(text=dict(max_length=6))],
        transformer_task=["feature-extraction", "sequence-classification", "fill-mask"], module_output_name=["token_embeddings", "scores"],
        tokenizer_name_or_path=[None], cache_dir=[None], backend=["torch"], query_length=[None, 8], document_length=[None],
    ),
    "config_sentence_transformers.json": dict(
        prompts=[{}, dict(query="ask ", document=""), dict(query="Tokyo: "), dict(query="", document="the ")],
        default_prompt_name=["query", "document", None], similarity_fn_name=["cosine", "dot", "euclidean", "manhattan", None],
        truncate_dim=[None, 8], model_type=["SentenceTransformer", "CrossEncoder", "SparseEncoder", "ColBERT", "MultiVectorEncoder", None], activation_fn=[
            f"{TASK}linear.Identity", f"{TASK}activation.Sigmoid", f"{TASK}activation.Tanh", "own.Activation", None],
        requirements=[[]], max_active_dims=[None, 5], keep_in_fp32_modules=[[]],
        query_length=[None, 6, 10, 24, 60], document_length=[None, 6, 20, 60], query_prefix=["[Q] ", "[D] ", "", "anna", "[new] ", None],
        document_prefix=["[D] ", "[Q] ", "", "the", "[new] ", None], skiplist_words=[[], [".", ","], ["anna", "xq", "?"], None],
        do_query_expansion=FLAGS, attend_to_expansion_tokens=FLAGS,
    ),
    "special_tokens_map.json": {f"{name}_token": [None] for name in TOKENS} | dict(additional_special_tokens=[[], ["[NEW]"], ["anna"]]),
    "Pooling/config.json": dict(
        pooling_mode=["mean", "cls", "max", "lasttoken", "weightedmean", "mean_sqrt_len_tokens", ["mean"], ["cls", "mean"]],
        include_prompt=FLAGS, word_embedding_dimension=[16, 8], embedding_dimension=[16, 8],
    ) | {f"pooling_mode_{mode}": [True, False] for mode in ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens",
                                                            "weightedmean_tokens", "lasttoken")},
    "Normalize/config.json": dict(module_input_name=["sentence_embedding", "token_embeddings"],
                                  module_output_name=["sentence_embedding", None]),
    "Dense/config.json": dict(
        in_features=[16, 12], out_features=[12, 8], bias=FLAGS, use_residual=FLAGS, module_input_name=["sentence_embedding", "token_embeddings"],
        module_output_name=["sentence_embedding", "token_embeddings", "scores", None], init_weight=[None],
        activation_function=[f"{TASK}linear.Identity", f"{TASK}activation.Tanh", f"{TASK}activation.GELU", f"{TASK}activation.Softplus",
                             "torch.nn.Tanh", "torch.nn.functional.relu", "own.Activation", None],
    ),
    "SpladePooling/config.json": dict(
        pooling_strategy=["max", "sum"], activation_function=["relu", "log1p_relu"], word_embedding_dimension=[90, 16, None],
        embedding_dimension=[90, 16, None], chunk_size=[None, 4, 0],
    ),
    "LayerNorm/config.json": dict(dimension=[16, 8]),
    "MultiVectorMask/config.json": dict(
        skiplist_words=[[], ["anna", "the"], [".", ","]], skip_words=[[], ["anna"]], keep_only_token_ids=[None, [5]],
    ),
    # Of Stanford's own keys, PyLate does not read mask_punctuation.
    "artifact.metadata": dict(
        query_token_id=["[unused0]", "[unused1]", "anna", "[new]", "", None], doc_token_id=["[unused1]", "[unused0]", "the", "[new]", None],
        query_token=["[Q]", "[unused0]"], doc_token=["[D]"], query_maxlen=[8, 10, 24, 60, None], doc_maxlen=[6, 20, 60, None],
        mask_punctuation=[True], attend_to_mask_tokens=FLAGS, dim=[12, 8], similarity=["cosine", "l2"], interaction=["colbert", "flipr"],
        bsize=[32], nbits=[2], checkpoint=["some/model"], relu=[True],
    ),
}
# How often a file is chosen.
SHARES = {"tokenizer_config.json": 8, "tokenizer.json": 6, "config.json": 5, "sentence_bert_config.json": 3,
          "special_tokens_map.json": 2, "config_sentence_transformers.json": 4, "modules.json": 6, "artifact.metadata": 6,
          "Pooling/config.json": 2, "Normalize/config.json": 1, "Dense/config.json": 3, "SpladePooling/config.json": 3,
          "LayerNorm/config.json": 1, "MultiVectorMask/config.json": 2}
# Keys that often change results are chosen more often, and a list of tokens is chosen as a whole.
LIVE = {"tokenizer_class", "do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space", "truncation_side", "model_max_length",
        "model_input_names", "additional_special_tokens", "extra_special_tokens", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
        "bos_token", "eos_token", "max_seq_length", "prompts", "default_prompt_name", "similarity_fn_name", "activation_fn", "num_labels",
        "id2label", "problem_type", "pad_token_id", "normalizer", "pre_tokenizer", "post_processor", "model", "truncation",
        "query_prefix", "document_prefix", "query_length", "document_length", "skiplist_words", "do_query_expansion", "attend_to_expansion_tokens", "activation_function", "use_residual"}
DELETED = object()


def kind_of(file):
    """Returns the name of a file without the number of its module."""
    return re.sub(r"^\d+_", "", file)


def choices(files, file):
    """Returns the values that each key of a file may get, by its path. A key can also be deleted, and so can the file."""
    content = files[file]
    if file == "tokenizer.json":
        return parts_of_tokenizer(content)
    if file == "modules.json":
        return lists_of_modules(content)
    found = {(key,): values + ([DELETED] if key in content else []) for key, values in LISTED[kind_of(file)].items()}
    if file != "config.json":
        found[()] = [DELETED]
    if file in ("tokenizer_config.json", "special_tokens_map.json"):
        names = [token["content"] for token in files["tokenizer.json"]["added_tokens"]]
        for key in list(LISTED[file]):
            if key.endswith("_token") and key not in ("word_delimiter_token",):
                found[(key,)] += [names[1], names[-1], "anna", "<new>", dict(NEW_TOKEN, content=names[-1], lstrip=True),
                                  dict(NEW_TOKEN, content=content.get(key) or names[0], **{"__type": "AddedToken"})]
        for number, token in content.get("added_tokens_decoder", {}).items():
            for flag in ("lstrip", "rstrip", "normalized", "single_word", "special"):
                found[("added_tokens_decoder", number, flag)] = [not token[flag]]
            found[("added_tokens_decoder", number)] = [DELETED]
    return found


MODULES = "sentence_transformers.models."
OTHER_TYPES = [f"{MODULES}{kind}" for kind in ("Transformer", "Pooling", "Normalize", "Dense", "Dropout", "Unknown")] + [
    "sentence_transformers.sparse_encoder.models.MLMTransformer", "sentence_transformers.sparse_encoder.models.SpladePooling",
    "sentence_transformers.base.modules.Normalize", "pylate.models.Dense.Dense", "own.Pooling", "Normalize"]


def lists_of_modules(content):
    """Other lists: another order, repeated and added modules; and other entries."""
    first, *others = content
    added = dict(idx=len(content), name=str(len(content)), path=f"{len(content)}_Normalize", type=f"{MODULES}Normalize")
    found = {(): [DELETED, [], content[::-1], [*others, first], [first, *others[::-1]], [*content, added], [*content, added | dict(path="")],
                  [first, added, *others], [*content, added | dict(type="own.Module")], [*content, added | dict(type=f"{MODULES}Dropout")],
                  *[[*content[:at + 1], entry, *content[at + 1:]] for at, entry in enumerate(content)],
                  *[[*content[:at + 1], entry | dict(name=f"again {at}"), *content[at + 1:]] for at, entry in enumerate(content)]]}
    for at, entry in enumerate(content):
        path = entry["path"]
        found[(at,)] = [DELETED]
        found[(at, "path")] = [f"./{path}", f"{path}/", f"{path}//.", f"x/../{path}", ".", "", "nowhere", *[each["path"] for each in content]]
        found[(at, "type")] = OTHER_TYPES
        found[(at, "name")] = ["0", "1", "2", "other", "", DELETED]
        found[(at, "idx")] = [0, 7, None, DELETED]
        found[(at, "kwargs")] = [[], ["task"], None]
        found[(at, "mood")] = ["good"]
    return found


def parts_of_tokenizer(content):
    found = {
        ("truncation",): [None, dict(direction="Left", max_length=12, strategy="LongestFirst", stride=0),
                          dict(direction="Right", max_length=10, strategy="LongestFirst", stride=2)],
        ("padding",): [None, dict(strategy=dict(Fixed=20), direction="Right", pad_to_multiple_of=None, pad_id=0, pad_type_id=0,
                                  pad_token=content["added_tokens"][0]["content"]),
                       dict(strategy="BatchLongest", direction="Left", pad_to_multiple_of=8, pad_id=0, pad_type_id=1,
                            pad_token=content["added_tokens"][0]["content"])],
        ("normalizer",): [None, dict(type="NFC"), dict(type="Lowercase"), dict(type="BertNormalizer", clean_text=True,
                          handle_chinese_chars=True, strip_accents=None, lowercase=True)],
        ("pre_tokenizer",): [dict(type="BertPreTokenizer"), dict(type="WhitespaceSplit"),
                             dict(type="Sequence", pretokenizers=[dict(type="Punctuation", behavior="Isolated"), content["pre_tokenizer"]])],
        ("post_processor",): [None, dict(type="ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True)],
        ("model", "unk_token"): ["[UNK]", "<unk>", None, "anna"],
        ("model", "max_input_chars_per_word"): [5, 200],
        ("model", "continuing_subword_prefix"): ["##", "@@"],
        ("model", "fuse_unk"): FLAGS[:2], ("model", "byte_fallback"): FLAGS[:2], ("model", "unk_id"): [0, 3, None],
        ("model", "ignore_merges"): FLAGS[:2], ("model", "dropout"): [None, 0.0],
    }
    kinds = dict(WordPiece=("unk_token", "max_input_chars_per_word", "continuing_subword_prefix"),
                 BPE=("unk_token", "fuse_unk", "byte_fallback", "ignore_merges", "dropout"), Unigram=("unk_id", "byte_fallback"))
    kept = kinds[content["model"].get("type", "WordPiece")]
    found = {path: values for path, values in found.items() if path[0] != "model" or path[1] in kept}
    found |= flags_below(content, ("normalizer",)) | flags_below(content, ("pre_tokenizer",)) | flags_below(content, ("post_processor",))
    for at, token in enumerate(content["added_tokens"]):
        for flag in ("lstrip", "rstrip", "normalized", "single_word", "special"):
            found[("added_tokens", at, flag)] = [not token[flag]]
        found[("added_tokens", at)] = [DELETED]
    return found


def flags_below(content, path):
    """Returns the flags of a part of tokenizer.json, and of the parts in it."""
    part = content
    for key in path:
        part = part[key]
    found = {}
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else []
    for key, value in items:
        if isinstance(value, bool):
            found[(*path, key)] = [not value]
        elif key == "strip_accents":
            found[(*path, key)] = FLAGS
        elif key == "prepend_scheme":
            found[(*path, key)] = ["always", "first", "never"]
        elif key == "type_id":
            found[(*path, key)] = [1 - value]
        elif key in ("cls", "sep"):
            found[(*path, key)] = [["anna", 60]]
        elif isinstance(value, (dict, list)):
            found |= flags_below(content, (*path, key))
    return found
