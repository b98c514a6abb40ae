import { rm, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import { type Errand, inChild } from "../isolate/in-child.ts";

/** Thousands of texts take seconds. */
const ENCODING: Errand = {
  failure: "texts_not_encoded",
  what: "Texts could not be made token ids",
  deadlineMs: 60 * 60_000,
};

const script = new URL(`./encode-child${extname(import.meta.url)}`, import.meta.url);

/**
 * `encodeTexts` in a process of its own: what a tokenizer is made of would stay in memory for as long as the caller runs.
 *
 * @param tokenizer the folder of tokenizer.json
 * @param folder for a file
 * @throws BertEdgeError `texts_not_encoded`, or what `encodeTexts` throws
 */
export async function encodeInChild(
  tokenizer: string,
  vocabulary: number,
  texts: readonly string[],
  folder: string,
): Promise<TokenIds[]> {
  const file = join(folder, "texts.json");
  await writeFile(file, JSON.stringify(texts));
  const ids = await inChild<TokenIds[]>(script, [tokenizer, `${vocabulary}`, file], ENCODING);
  await rm(file);
  return ids;
}
