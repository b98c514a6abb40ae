import { BertEdgeError } from "../artifact/error.ts";
import type { Manifest } from "../artifact/manifest.ts";

/** Returns the error for an input that has more tokens than the model reads, in a call that does not truncate its inputs. */
export const inputTooLong = (
  { name, maxTokens }: Pick<Manifest, "name" | "maxTokens">,
  index: number,
  tokens: number,
): BertEdgeError =>
  new BertEdgeError(
    "input_too_long",
    `Input ${index} has at least ${tokens} tokens, but ${name} accepts at most ${maxTokens}.`,
    { hint: ["shorten the text", { set: "truncate", to: true, why: "to read only its beginning" }], index },
  );
