import { BertEdgeError } from "../artifact/error.ts";
import type { Manifest } from "../artifact/manifest.ts";
import type { TokenIds } from "../runtime/engine/engine.ts";
import { outputLength } from "../runtime/tasks/task-output.ts";
import type { Limits } from "./limits.ts";
import type { TaskQuery } from "./service.ts";

/**
 * Checks a request as far as this is possible without the model: the number of inputs, and that no input is empty.
 *
 * @throws BertEdgeError `too_many_inputs`, `input_empty`
 */
export function checkQuery({ call }: TaskQuery<unknown>, { maxInputs }: Limits): void {
  const { texts, size = texts.length, nameOf = (index: number) => `Input ${index}` } = call;
  checkSize(size, maxInputs);
  if (texts.length === 0) {
    throw new BertEdgeError("input_empty", "The request has no inputs.", { hint: "Send at least one text." });
  }
  const empty = texts.findIndex((text) => text.trim() === "");
  if (empty >= 0) {
    throw new BertEdgeError("input_empty", `${nameOf(empty)} is empty.`, {
      hint: "Every input needs at least one character that is not white space.",
      index: empty,
    });
  }
}

/** @throws BertEdgeError `too_many_inputs` */
export function checkSize(size: number, maxInputs: number): void {
  if (size <= maxInputs) return;
  throw new BertEdgeError("too_many_inputs", `The request has ${size} inputs, but at most ${maxInputs} are allowed.`, {
    hint: "Send the inputs in several requests.",
  });
}

/** Returns the bytes of a sequence's output. `ids` are as in `outputLength`. */
export const outputBytes = (manifest: Manifest, ids: TokenIds | undefined): number =>
  outputLength(manifest, ids) * Float32Array.BYTES_PER_ELEMENT;

/**
 * Checks the size of a request's outputs before they are computed.
 *
 * @param ids token ids of each sequence; undefined for a sequence that is not encoded
 * @throws BertEdgeError `too_many_inputs`
 */
export function checkOutputs(
  manifest: Manifest,
  ids: readonly (TokenIds | undefined)[],
  { maxOutputBytes }: Limits,
): void {
  const bytes = ids.reduce((sum, each) => sum + outputBytes(manifest, each), 0);
  if (bytes <= maxOutputBytes) return;
  throw new BertEdgeError(
    "too_many_inputs",
    `The outputs of ${manifest.name} for this request have ${bytes} bytes, but at most ${maxOutputBytes} are allowed.`,
    { hint: "Send the inputs in several requests, or shorter ones." },
  );
}
