import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { TokenizerFiles } from "../model-folder.ts";

const Settings = v.object({ padding_side: v.string() });
const Json = v.object({ padding: v.object({ direction: v.literal("Left") }) });

/**
 * Refuses a tokenizer that pads at the left, for tasks in which this changes more than padding. The side is `padding_side` of
 * tokenizer_config.json, else the direction in tokenizer.json, else the right.
 *
 * @param otherwise what padding at the left would change
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertPadsRight(
  folder: string,
  { json, config }: Pick<TokenizerFiles, "json" | "config">,
  otherwise: string,
): void {
  const named = v.is(Settings, config) ? v.parse(Settings, config).padding_side : undefined;
  if (named === undefined ? !v.is(Json, json) : named !== "left") return;
  const key =
    named === undefined ? "tokenizer.json: padding.direction is Left" : "tokenizer_config.json: padding_side is left";
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `${join(folder, key)}: ${otherwise}. This is not supported so far.`,
    { hint: "Set padding_side to right in tokenizer_config.json, if the model was trained so." },
  );
}
