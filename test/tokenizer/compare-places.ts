/**
 * Compares places of tokens with Hugging Face's Rust tokenizers, and writes rust-places.json for rust-places.long.test.ts.
 *
 *     pip install tokenizers && node test/tokenizer/compare-places.ts [tokenizer.json …]
 *
 * The arguments are further tokenizers. Their results are only printed.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { packed } from "../fixtures/packed-tokenizers.ts";
import { blockHash } from "./block-hash.ts";
import { fuzzedTexts } from "./fuzzed-texts.ts";
import { placedNumbers } from "./placed-numbers.ts";
import { unigramVariants } from "./unigram.ts";

const MAX_BYTES = 2 ** 30;
const here = import.meta.dirname;
const given = process.argv.slice(2).map((name) => [name, () => JSON.parse(readFileSync(name, "utf8"))] as const);

const folder = await mkdtemp(join(tmpdir(), "tokenizer-"));
const file = join(folder, "tokenizer.json");
const rustPlaces: Record<string, Record<string, string>> = {};
for (const [variant, tokenizer] of [...Object.entries(unigramVariants), ...given]) {
  const json = tokenizer();
  writeFileSync(file, JSON.stringify(json));
  const opened = createPackedTokenizer(packed(json), Number.POSITIVE_INFINITY);
  const hashes: Record<string, string> = {};
  for (const { name, texts } of fuzzedTexts("suite")) {
    const options = { input: JSON.stringify(texts), maxBuffer: MAX_BYTES };
    const output = execFileSync("python3", [join(here, "rust_places.py"), file], options).toString();
    const rust = JSON.parse(output) as number[][];
    const differing = texts.filter((text, i) => placedNumbers(opened, text).join() !== rust[i]?.join());
    console.log(`${variant} · ${name}: ${differing.length} of ${texts.length} texts differ`);
    for (const text of differing.slice(0, 3)) console.log(`  ${JSON.stringify(text)}`);
    if (differing.length > 0) process.exitCode = 1;
    hashes[name] = await blockHash(rust);
  }
  if (variant in unigramVariants) rustPlaces[variant] = hashes;
}
await rm(folder, { recursive: true });
writeFileSync(join(here, "rust-places.json"), `${JSON.stringify(rustPlaces, null, 2)}\n`);
