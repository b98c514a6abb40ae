import { type KeyTable, nested, noEffect, obeyed, only } from "./key-table.ts";

// The keys that sentence-transformers 5.3 to 6.2, PyLate 1.6 and Stanford's ColBERT read from their own files.

/** An entry of modules.json. */
export const moduleEntryKeys: KeyTable = {
  idx: noEffect("modules run in the order of the list"),
  name: obeyed,
  path: obeyed,
  type: obeyed,
  kwargs: noEffect("names of arguments that a caller may give to encode"),
};

/** Arguments of from_pretrained that do not change what is computed. */
const loadingKeys = nested({
  trust_remote_code: noEffect("no code of a model is run"),
  dtype: noEffect("weights are read as they are stored"),
  torch_dtype: noEffect("weights are read as they are stored"),
  attn_implementation: noEffect("a way to compute the same"),
});

const forwards = (output: string) => ({ text: { method: "forward", method_output_name: output } });

/** Files with the configuration of a Transformer module, in the order in which sentence-transformers tries them. */
export const transformerFiles = ["bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"].map(
  (name) => `sentence_${name}_config.json`,
);

/** Keys of the files in `transformerFiles`. */
export const transformerKeys: KeyTable = {
  max_seq_length: obeyed,
  do_lower_case: obeyed,
  transformer_task: only(["feature-extraction", "fill-mask", "sequence-classification"]),
  modality_config: only([forwards("last_hidden_state"), forwards("logits")]),
  module_output_name: only(["token_embeddings", "scores"]),
  processing_kwargs: only([null, {}]),
  unpad_inputs: noEffect("a way to compute the same"),
  query_length: only([null]),
  document_length: only([null]),
  query_expansion: only([null]),
  model_args: loadingKeys,
  model_kwargs: loadingKeys,
  tokenizer_args: loadingKeys,
  processor_kwargs: loadingKeys,
  config_args: loadingKeys,
  config_kwargs: loadingKeys,
  tokenizer_name_or_path: only([null]),
  cache_dir: noEffect("a folder of the machine that saved the model"),
  backend: noEffect("a way to compute the same"),
};

/** config.json of a Pooling module. */
export const poolingKeys: KeyTable = {
  word_embedding_dimension: noEffect("the width of the hidden states"),
  embedding_dimension: noEffect("the width of the hidden states"),
  pooling_mode: obeyed,
  pooling_mode_cls_token: obeyed,
  pooling_mode_max_tokens: obeyed,
  pooling_mode_mean_tokens: obeyed,
  pooling_mode_mean_sqrt_len_tokens: obeyed,
  pooling_mode_weightedmean_tokens: obeyed,
  pooling_mode_lasttoken: obeyed,
  include_prompt: obeyed,
};

/** config.json of a Normalize module. sentence-transformers 5 and older write none. */
export const normalizeKeys = (input: "sentence_embedding" | "token_embeddings"): KeyTable => ({
  module_input_name: only([input]),
  module_output_name: only([input, null]),
});

/** config.json of a Dense module that projects the vectors of tokens. */
export const denseKeys: KeyTable = {
  in_features: obeyed,
  out_features: obeyed,
  bias: obeyed,
  activation_function: obeyed,
  use_residual: obeyed,
  module_input_name: only(["token_embeddings"]),
  module_output_name: only(["token_embeddings", null]),
};

/** config.json of a Dropout module */
export const dropoutKeys: KeyTable = { dropout: noEffect("a setting of training") };

/** config.json of a SpladePooling module: max(log(1 + relu(logits))), as in https://arxiv.org/abs/2109.10086 */
export const spladePoolingKeys: KeyTable = {
  pooling_strategy: only(["max"]),
  activation_function: only(["relu"]),
  word_embedding_dimension: noEffect("the size of the vocabulary"),
  embedding_dimension: noEffect("the size of the vocabulary"),
  chunk_size: noEffect("a way to compute the same"),
};

/** config_sentence_transformers.json. The keys from `query_prefix` on are PyLate's. */
export const sentenceTransformersKeys: KeyTable = {
  __version__: noEffect("the versions that saved the model"),
  requirements: noEffect("versions that Python needs"),
  model_type: obeyed,
  prompts: obeyed,
  default_prompt_name: obeyed,
  similarity_fn_name: obeyed,
  truncate_dim: only(
    [null],
    "Remove the key, and ask for shorter vectors with `dimensions` in the request. They then have the length 1.",
  ),
  max_active_dims: only([null], "Remove the key, and keep the largest weights of each vector yourself."),
  activation_fn: obeyed,
  keep_in_fp32_modules: noEffect("weights are read as they are stored"),
  query_prefix: obeyed,
  document_prefix: obeyed,
  query_length: obeyed,
  document_length: obeyed,
  skiplist_words: obeyed,
  do_query_expansion: obeyed,
  attend_to_expansion_tokens: obeyed,
};
