import type { Task } from "../../artifact/manifest.ts";
import type { TokenIds, TokenSequence } from "../../runtime/engine/engine.ts";
import { promptOf, unpooledPrompts } from "../../runtime/tasks/prompt.ts";
import type { Tokenizer } from "../../runtime/tokenizer/tokenizer.ts";
import type { TextOrPair } from "./tokenize-texts.ts";

type MarkPrompts = (texts: readonly TextOrPair[], sequences: readonly TokenSequence[]) => readonly TokenSequence[];

/**
 * Returns a function that marks the default prompt of texts which begin with it, if the model does not pool it: a request for what is
 * behind the prompt has this sequence.
 */
export function markPrompts(task: Task, tokenizer: Tokenizer, maxTokens: number): MarkPrompts {
  if (task.task !== "embed" || task.poolsPrompt !== false) return (_, sequences) => sequences;
  const prompt = promptOf({ ...task, name: "" });
  const mark = unpooledPrompts({ name: "", poolsPrompt: false, maxTokens }, tokenizer);
  return (texts, sequences) =>
    sequences.flatMap((ids, i) => (`${texts[i]}`.startsWith(prompt) ? mark(prompt, [ids as TokenIds]) : [ids]));
}
