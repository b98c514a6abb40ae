import { BertEdgeError } from "../../artifact/error.ts";
import { MAX_PROMPT_LENGTH, type Task } from "../../artifact/manifest.ts";
import type { Tokenizer } from "../../runtime/tokenizer/tokenizer.ts";

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
