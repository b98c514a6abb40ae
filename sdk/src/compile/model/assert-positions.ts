import { BertEdgeError } from "../../artifact/error.ts";
import { type EncoderConfig, maxTokensOf } from "../checkpoint/encoder-config.ts";

/** A stated length from this number on means no maximum: transformers writes 10³⁰ for a tokenizer without a maximum length. */
const NO_MAXIMUM = 1e9;

/**
 * Returns a sentence about the length at which texts are cut, although transformers reads them whole; undefined if transformers cuts
 * them too.
 *
 * @param stated maximum text length in tokens, as the folder's files state it
 */
export function assumedLength(config: EncoderConfig, stated = NO_MAXIMUM): string | undefined {
  if (config.hasPositionTable || stated < NO_MAXIMUM) return undefined;
  return (
    `No file gives a maximum length, so texts are cut at the ${maxTokensOf(config)} tokens of max_position_embeddings in config.json. ` +
    "transformers reads longer ones whole. Set model_max_length in tokenizer_config.json to cut them there as well."
  );
}

/**
 * Refuses a model without a position table whose files allow longer texts than max_position_embeddings. The model's Python library reads
 * such texts whole, but bert-edge would cut them.
 *
 * @param stated maximum text length in tokens, as the folder's files state it
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertPositions(folder: string, config: EncoderConfig, stated = 0): void {
  const most = maxTokensOf(config);
  if (config.hasPositionTable || stated <= most || stated >= NO_MAXIMUM) return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `${folder}: texts may have ${stated} tokens, but max_position_embeddings in config.json is ${most}. This is not supported so far.`,
    {
      hint:
        `Set model_max_length in tokenizer_config.json, or max_seq_length in sentence_bert_config.json, to ${most} or less. ` +
        `Or set max_position_embeddings to ${stated}, if the model reads texts of that length well.`,
    },
  );
}
