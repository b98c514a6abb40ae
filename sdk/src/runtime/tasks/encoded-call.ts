import type { Manifest } from "../../artifact/manifest.ts";
import { inputEncoder } from "../input-encoder.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import type { Encode, EncodedCall, EncodedInput, ModelCall } from "./task-call.ts";

/** Returns the function that encodes the inputs of a call: the call's own, or one that makes one sequence of each input. */
export function encoderOf<R, Part>(
  { encoder, truncate }: ModelCall<R, Part>,
  { tokenizer, manifest }: { readonly tokenizer: Tokenizer; readonly manifest: Pick<Manifest, "name" | "maxTokens"> },
): Encode<Part> {
  if (encoder) return encoder(tokenizer);
  const encode = inputEncoder(tokenizer, manifest, truncate);
  return (input, index) => ({ sequences: [encode(input, index)] });
}

/** Joins the encoded inputs of a call, which are in the order of `inputs`. */
export const encodedCall = <R, Part>(
  { inputs, truncate, decode }: ModelCall<R, Part>,
  encoded: readonly EncodedInput<Part>[],
): EncodedCall<R> => ({
  inputs: inputs.map((input, i) => encoded[i]?.text ?? input),
  truncate,
  sequences: encoded.flatMap(({ sequences }) => sequences),
  decode(outputs) {
    let end = 0;
    const parts = encoded.map(({ sequences, read }) => {
      const start = end;
      end += sequences.length;
      const own = outputs.slice(start, end);
      return read ? read(own) : (own[0] as Part);
    });
    return decode(parts);
  },
});
