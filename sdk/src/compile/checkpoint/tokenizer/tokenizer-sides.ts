import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { Side } from "../../../runtime/truncation.ts";
import type { TokenizerFiles } from "../model-folder.ts";

type Files = Pick<TokenizerFiles, "json" | "config">;

const FILE = "tokenizer_config.json";
const AnySide = v.picklist(["left", "right"]);
const FromLeft = v.object({ direction: v.literal("Left") });

/**
 * Returns the side on which a tokenizer cuts or pads texts, and the setting that chooses this side: `truncation_side` or
 * `padding_side` of tokenizer_config.json, else the direction in tokenizer.json. The default is the right.
 *
 * @throws BertEdgeError `checkpoint_invalid` for a value other than left and right; transformers does not load such a tokenizer
 */
function sideOf(what: "truncation" | "padding", { json, config }: Files): { readonly side: Side; readonly by: string } {
  const key = `${what}_side`;
  const named = (config as Readonly<Record<string, unknown>>)[key];
  if (v.is(AnySide, named)) return { side: named, by: `${FILE}: ${key} is ${named}` };
  if (key in config) {
    throw new BertEdgeError("checkpoint_invalid", `${FILE} has the ${key} ${JSON.stringify(named)}.`, {
      hint: 'Set it to "left" or "right", or remove the key: the default is the right.',
    });
  }
  return v.is(FromLeft, (json as Readonly<Record<string, unknown>>)[what])
    ? { side: "left", by: `tokenizer.json: ${what}.direction is Left` }
    : { side: "right", by: `${FILE}: there is no ${key}` };
}

/**
 * Returns the side on which a tokenizer cuts texts.
 *
 * @throws BertEdgeError `checkpoint_invalid`
 */
export const truncationSide = (files: Files): Side => sideOf("truncation", files).side;

/**
 * Refuses a tokenizer that pads on the left, for tasks in which this changes more than padding.
 *
 * @param otherwise consequence of padding on the left, as a clause of the error message
 * @throws BertEdgeError `checkpoint_unsupported`, `checkpoint_invalid`
 */
export function assertPadsRight(folder: string, files: Files, otherwise: string): void {
  const { side, by } = sideOf("padding", files);
  if (side === "right") return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `${join(folder, by)}: ${otherwise}. This is not supported so far.`,
    { hint: "Set padding_side to right in tokenizer_config.json, if the model was trained with padding on the right." },
  );
}
