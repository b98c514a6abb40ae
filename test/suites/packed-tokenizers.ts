import { readFileSync } from "node:fs";
import { packTokenizer } from "../../sdk/src/build/pack/tokenizer/pack-tokenizer.ts";

/** The default model's tokenizer.json. */
export const defaultTokenizerJson = () =>
  JSON.parse(readFileSync(new URL("../../models/default/tokenizer.json", import.meta.url), "utf8"));

/** Packs a tokenizer that is known to be of a kind that can be. */
export function packed(json: object): Uint8Array<ArrayBuffer> {
  const bytes = packTokenizer(json);
  if (!bytes) throw new Error("this tokenizer cannot be packed");
  return bytes;
}
