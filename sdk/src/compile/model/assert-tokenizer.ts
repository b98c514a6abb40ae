import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import { MAX_PROMPT_LENGTH, type Task, type TaskName } from "../../artifact/manifest.ts";
import { idsOf } from "../../runtime/engine/token-sequence.ts";
import type { Tokenizer } from "../../runtime/tokenizer/tokenizer.ts";
import { MIN_TOKENS } from "../checkpoint/encoder-config.ts";
import { TokenName } from "../checkpoint/tokenizer/token-names.ts";
import type { ShippedTokenizer } from "../pack/tokenizer/pack-tokenizer.ts";

/**
 * Checks that a tokenizer encodes pairs, if the task needs it.
 *
 * @throws BertEdgeError `pairs_unsupported`
 */
export function assertPairs(tokenizer: Tokenizer, task: Task): void {
  const readsPairs = task.task === "answer" || (task.task === "classify" && task.input === "pair");
  if (readsPairs) tokenizer.encodePair("", "", Number.POSITIVE_INFINITY);
}

/**
 * Checks that even an empty text has a token, because an encoder cannot compute anything from no tokens.
 *
 * @param folder folder of the tokenizer, for the error message
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertSpecialTokens(folder: string, tokenizer: Tokenizer): void {
  if (tokenizer.encode("", MIN_TOKENS).ids.length > 0) return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `${join(folder, "tokenizer.json")} puts no special tokens around texts, so that empty texts have no tokens. This is not supported so far.`,
    { hint: "Give tokenizer.json the post_processor with which the model was trained." },
  );
}

const Config = v.object({ cls_token: v.nullish(TokenName) });

/**
 * Checks that a model for question answering reads its cls_token first. transformers uses the score of this token as the score of no
 * answer, and all other scores depend on it.
 *
 * @param config content of tokenizer_config.json
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertFirstToken(folder: string, config: object, tokenizer: Tokenizer, { task }: Task): void {
  if (task !== "answer" || !("cls_token" in config) || !v.is(Config, config)) return;
  const { cls_token: named } = v.parse(Config, config);
  const [first] = idsOf(tokenizer.encodePair("", "", Number.POSITIVE_INFINITY).ids);
  if (named != null && first !== undefined && tokenizer.vocabulary.idOf(named) === first) return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `${join(folder, "tokenizer_config.json")}: cls_token is ${JSON.stringify(named)}, which is not the first token of a question. This is not supported so far.`,
    { hint: "Correct cls_token, or the post_processor of tokenizer.json." },
  );
}

/** Tasks whose answers are parts of texts. */
const placing: readonly TaskName[] = ["tag", "answer"];

/**
 * Checks that a tokenizer gives the places of tokens in a text, if the task needs them.
 *
 * @param folder folder of the tokenizer, for the error message
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertPlaces(folder: string, { manifest }: Pick<ShippedTokenizer, "manifest">, task: TaskName): void {
  if (manifest.kind === "packed" || !placing.includes(task)) return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `The task ${task} needs the places of tokens in a text, and the tokenizer ${join(folder, "tokenizer.json")} does not give them, because it has no packed form.`,
    {
      hint: "Prepare a model whose tokenizer has a packed form: `npx bert-edge models` lists models, and the page Limits says which tokenizers have one.",
    },
  );
}

/**
 * Checks that each prompt is short, and leaves room for a text. Otherwise all texts with the prompt would get the same answer.
 *
 * @param folder folder of the model, for the error message
 * @param maxTokens maximum number of tokens of a text, with its prompt
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertPrompts(
  folder: string,
  task: Task,
  tokenizer: Pick<Tokenizer, "encode">,
  maxTokens: number,
): void {
  const prompts = Object.entries(("prompts" in task && task.prompts) || {});
  const large = prompts.find(([, prompt]) => prompt.length > MAX_PROMPT_LENGTH);
  if (large) {
    const what = `${folder}: the prompt ${large[0]} has ${large[1].length} characters, and at most ${MAX_PROMPT_LENGTH} are allowed.`;
    const hint = "Shorten or remove the prompt in config_sentence_transformers.json.";
    throw new BertEdgeError("checkpoint_unsupported", what, { hint });
  }
  const tooLong = prompts.find(([, prompt]) => tokenizer.encode(prompt, maxTokens).tokens >= maxTokens);
  if (!tooLong) return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `${folder}: the prompt ${tooLong[0]} has at least ${maxTokens} tokens, and texts are cut at ${maxTokens} tokens, prompt included. No token of a text is left.`,
    {
      hint:
        "Shorten or remove the prompt in config_sentence_transformers.json, or let texts be longer: set max_seq_length in " +
        "sentence_bert_config.json, or export an ONNX file with a dynamic length.",
    },
  );
}
