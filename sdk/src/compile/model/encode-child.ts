import { readFile } from "node:fs/promises";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import { answer } from "../isolate/in-child.ts";
import { encodeTexts } from "./encode-texts.ts";

/** Encodes the texts in a JSON file with the tokenizer of the folder named on the command line. */
const [, , folder = "", vocabulary = "", texts = ""] = process.argv;
await answer(encode());

async function encode(): Promise<TokenIds[]> {
  return encodeTexts(folder, Number(vocabulary), JSON.parse(await readFile(texts, "utf8")) as string[]);
}
