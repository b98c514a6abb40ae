import { taskUnsupported } from "../../artifact/manifest.ts";
import { inputTooLong } from "../input-too-long.ts";
import type { PlacedTokens } from "../tokenizer/tokenizer.ts";
import { sideOf, type Truncation } from "../truncation.ts";
import { type AggregationStrategy, type Entity, entitiesOf } from "./tag.ts";
import type { TaskCall } from "./task-call.ts";
import { wordStarts } from "./word-starts.ts";

export interface TagParameters {
  /** How tokens become entities. Default `simple`. */
  readonly strategy?: AggregationStrategy | undefined;
  /** Labels that are left out, without B- and I- unless the strategy is `none`. Default `O`. */
  readonly ignoreLabels?: readonly string[] | undefined;
  /** Whether to cut texts that are too long. Otherwise they are refused. Default false. */
  readonly truncate?: Truncation | undefined;
}

/** Calls a token classifier. The result is the entities of each text. Offsets are UTF-16 indices. */
export const tagCall = (
  texts: readonly string[],
  { strategy = "simple", ignoreLabels = ["O"], truncate = false }: TagParameters = {},
): TaskCall<Entity[][]> => ({
  texts,
  on(manifest) {
    if (manifest.task !== "tag") throw taskUnsupported(manifest, "tag");
    const { labels, maxTokens } = manifest;
    const placed: (PlacedTokens & { readonly unknownId: number | undefined })[] = [];
    return {
      inputs: texts,
      truncate,
      encode(tokenizer, input, index) {
        const { tokens, ...found } = tokenizer.encodePlaced(input as string, maxTokens, sideOf(truncate, tokenizer));
        if (tokens > maxTokens && !truncate) throw inputTooLong(manifest, index, tokens);
        placed[index] = { ...found, unknownId: tokenizer.unknownId };
        return [found.ids];
      },
      decode: (outputs) =>
        outputs.map((logits, index) => {
          const text = texts[index] as string;
          const tokens = placed[index] as (typeof placed)[number];
          const { offsets, words } = tokens;
          const starts = wordStarts({ text, ...tokens });
          return entitiesOf({
            text,
            logits,
            labels,
            offsets,
            wordIds: words,
            wordStarts: starts,
            strategy,
            ignoreLabels,
          });
        }),
    };
  },
});
