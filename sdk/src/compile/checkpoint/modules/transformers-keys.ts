import type * as v from "valibot";
import { families } from "../families/index.ts";
import { type KeyTable, noEffect, obeyed, only, type Treatment } from "./key-table.ts";

// The keys that transformers 4.57 and 5.24 read from their own files.

const all = (keys: readonly string[], treatment: Treatment): KeyTable =>
  Object.fromEntries(keys.map((key) => [key, treatment]));

/** tokenizer_config.json */
export const tokenizerKeys: KeyTable = {
  ...all(["tokenizer_class", "do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space"], obeyed),
  ...all(["truncation_side", "model_max_length", "max_len", "model_input_names"], obeyed),
  ...all(["added_tokens_decoder", "additional_special_tokens", "extra_special_tokens"], obeyed),
  ...all(["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"], obeyed),
  ...all(["clean_up_tokenization_spaces", "trim_offsets"], obeyed),
  ...all(["padding_side", "pad_token_type_id", "pad_to_multiple_of"], noEffect("padding is no part of a text")),
  ...all(["max_length", "stride", "truncation_strategy"], noEffect("a default of calls that cut texts themselves")),
  ...all(
    ["do_basic_tokenize", "never_split", "sp_model_kwargs", "vocab_type", "keep_accents", "remove_space"].concat([
      ...["split_by_punct", "wordpieces_prefix", "clean_text", "errors", "legacy", "from_slow", "subword_prefix"],
      ...["word_delimiter_token", "unk_id", "add_bos_token", "add_eos_token"],
    ]),
    noEffect("a setting of the slow tokenizer; tokenizer.json has its own"),
  ),
  ...all(
    ["special_tokens_map_file", "tokenizer_file", "vocab_file", "merges_file", "name_or_path", "use_fast"].concat([
      ...["processor_class", "auto_map", "backend", "is_local", "local_files_only", "verbose", "device_map"],
      ...["chat_template", "return_tensors", "spaces_between_special_tokens"],
    ]),
    noEffect("a place, a name or a setting that encoders do not use"),
  ),
  split_special_tokens: only([false, null], "Special tokens in texts are read as special tokens."),
};

/** special_tokens_map.json */
export const specialTokensKeys: KeyTable = all(
  ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"].concat([
    "additional_special_tokens",
  ]),
  obeyed,
);

const training = noEffect("a setting of training");
const generation = noEffect("a setting of text generation");

/** Keys of config.json that do not depend on the family. `configTable` adds the keys that a family's schemas read. */
export const configKeys: KeyTable = {
  ...all(["architectures", "model_type", "transformers_version", "tokenizer_class", "problem_type"], obeyed),
  ...all(["id2label", "num_labels", "pad_token_id"], obeyed),
  ...all(["sentence_transformers", "sbert_ce_default_activation_function"], obeyed),
  label2id: noEffect("the inverse of id2label"),
  ...all(
    ["hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout", "classifier_dropout_prob"].concat([
      ...["dropout", "attention_dropout", "embedding_dropout", "mlp_dropout", "seq_classif_dropout", "qa_dropout"],
      ...["hidden_dropout", "pooler_dropout", "embd_pdrop", "attn_pdrop", "resid_pdrop", "cls_dropout"],
      ...["initializer_range", "initializer_factor", "initializer_cutoff_factor", "finetuning_task"],
      ...["gradient_checkpointing", "task_specific_params", "sinusoidal_pos_embds", "tie_weights_"],
      ...["sparse_prediction", "sparse_pred_ignore_index", "repad_logits_with_grad", "summary_last_dropout"],
    ]),
    training,
  ),
  ...all(
    ["torch_dtype", "dtype", "use_bfloat16", "torchscript", "tf_legacy_loss", "chunk_size_feed_forward"].concat([
      ...["attn_implementation", "_attn_implementation", "_attn_implementation_autoset", "reference_compile"],
      ...["deterministic_flash_attn", "use_memory_efficient_attention", "unpad_inputs", "use_flash_attn"],
      ...["fused_bias_fc", "fused_dropout_add_ln", "use_xformers", "pad_vocab_size_multiple"],
    ]),
    noEffect("a way to store or compute the same"),
  ),
  ...all(
    ["return_dict", "output_hidden_states", "output_attentions", "use_cache", "_name_or_path", "auto_map"].concat([
      ...["language", "output_past", "directionality", "summary_type", "summary_use_proj", "summary_activation"],
      ...["summary_first_dropout", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers"],
      ...["pooler_size_per_head", "pooler_type", "net_structure_type", "num_memory_blocks", "gap_size"],
      ...["down_scale_factor", "adapters", "custom_pipelines"],
    ]),
    noEffect("a setting that no encoder or head uses"),
  ),
  ...all(
    ["max_length", "min_length", "do_sample", "early_stopping", "num_beams", "num_beam_groups", "temperature"].concat([
      ...["diversity_penalty", "top_k", "top_p", "typical_p", "repetition_penalty", "length_penalty"],
      ...["no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "bad_words_ids", "num_return_sequences"],
      ...["output_scores", "return_dict_in_generate", "forced_bos_token_id", "forced_eos_token_id", "prefix"],
      ...["remove_invalid_values", "exponential_decay_length_penalty", "suppress_tokens", "begin_suppress_tokens"],
      ...["decoder_start_token_id", "bos_token_id", "eos_token_id", "sep_token_id", "cls_token_id", "mask_token_id"],
    ]),
    generation,
  ),
  tie_word_embeddings: noEffect("a head has its own weights if they are stored"),
  is_decoder: only([false]),
  is_encoder_decoder: only([false]),
  add_cross_attention: only([false]),
  cross_attention_hidden_size: only([null]),
  tie_encoder_decoder: only([false]),
  inner_group_num: only([1], "Layers of ALBERT's groups are not supported so far."),
  pretraining_tp: only([1]),
  pruned_heads: only([{}, null]),
  quantization_config: only([null], "Save the model with its float32 weights; prepare quantizes it."),
};

/**
 * Returns the key table of a config.json: the keys of all families, and the keys that the file's own family reads.
 *
 * @param config content of config.json
 */
export function configTable(config: object): KeyTable {
  const { model_type: type } = config as { readonly model_type?: unknown };
  const family = typeof type === "string" && Object.hasOwn(families, type) ? families[type] : undefined;
  if (!family) return configKeys;
  const heads = Object.values(family.heads).filter((head) => head !== undefined);
  const own = [family.config, ...heads].flatMap((schema) => schemaKeys(schema, config));
  return {
    ...configKeys,
    ...Object.fromEntries(own.map((key) => [key, configKeys[key]?.is === "only" ? configKeys[key] : obeyed])),
  };
}

/** The parts of valibot's schemas that `keysOf` reads. */
interface Schema {
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly pipe?: readonly Schema[];
  readonly wrapped?: Schema;
  readonly getter?: (input: unknown) => Schema;
}

/**
 * Returns the keys of an object that a schema reads. A key can be listed twice.
 *
 * @param input the object, because some schemas depend on it
 */
const schemaKeys = (schema: v.GenericSchema, input: unknown): string[] => keysOf(schema as unknown as Schema, input);

function keysOf({ pipe, getter, wrapped, entries = {} }: Schema, input: unknown): string[] {
  // A schema with a pipe also has the entries of the pipe's first part, so only the pipe is read.
  if (pipe) return pipe.flatMap((part) => keysOf(part, input));
  if (getter) return keysOf(getter(input), input);
  return wrapped ? keysOf(wrapped, input) : Object.keys(entries);
}
