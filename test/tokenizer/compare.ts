/**
 * Compares the packed tokenizer with Hugging Face's Rust tokenizers on every fuzzed text, and writes rust-ids.json for
 * rust-ids.long.test.ts.
 *
 *     pip install tokenizers && node test/tokenizer/compare.ts [--only <part of a name>] [tokenizer.json or text file …]
 *
 * The arguments are further tokenizers and text files with one text per line. Their results are only printed. With `--only`, the
 * results of other variants stay as they are.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import type { Tokenizer } from "#sdk/runtime/tokenizer/tokenizer.ts";
import { packed } from "../fixtures/packed-tokenizers.ts";
import { blockHash } from "./block-hash.ts";
import { type Block, fuzzedTexts } from "./fuzzed-texts.ts";
import { variants } from "./variants.ts";

const MAX_BYTES = 2 ** 30;
const here = import.meta.dirname;
const results = join(here, "rust-ids.json");
const sets = { suite: fuzzedTexts("suite"), all: fuzzedTexts("all") };
const isTokenizer = (name: string) => name.endsWith(".json");
const { values, positionals: names } = parseArgs({ options: { only: { type: "string" } }, allowPositionals: true });
const { only = "" } = values;
const givenTexts = names
  .filter((name) => !isTokenizer(name))
  .map((name): Block => ({ name, texts: readFileSync(name, "utf8").split("\n") }));
const givenTokenizers = names
  .filter(isTokenizer)
  .map((name) => [name, () => JSON.parse(readFileSync(name, "utf8"))] as const);

const folder = await mkdtemp(join(tmpdir(), "tokenizer-"));
const file = join(folder, "tokenizer.json");
type Hashes = Record<string, Record<string, string>>;
const rustIds: Record<keyof typeof sets, Hashes> = { suite: {}, all: {} };
const known: typeof rustIds = only === "" ? rustIds : JSON.parse(readFileSync(results, "utf8"));

/**
 * Compares the token ids of a block's texts, and prints the differences.
 *
 * @returns hash of the Rust tokenizer's ids
 */
async function compare(variant: string, { encode }: Tokenizer, { name, texts }: Block): Promise<string> {
  const options = { input: JSON.stringify(texts), maxBuffer: MAX_BYTES };
  const rust: number[][] = JSON.parse(execFileSync("python3", [join(here, "rust_ids.py"), file], options).toString());
  const differing = texts.filter((text, i) => encode(text, MAX_BYTES).ids.join() !== rust[i]?.join());
  console.log(`${variant} · ${name}: ${differing.length} of ${texts.length} texts differ`);
  for (const text of differing.slice(0, 3)) console.log(`  ${JSON.stringify(text)}`);
  if (differing.length > 0) process.exitCode = 1;
  return blockHash(rust);
}

for (const [variant, tokenizer] of [...Object.entries(variants), ...givenTokenizers]) {
  if (!variant.includes(only) && variant in known.all) {
    for (const set of ["suite", "all"] as const) rustIds[set][variant] = known[set][variant] as Record<string, string>;
    continue;
  }
  const json = tokenizer();
  writeFileSync(file, JSON.stringify(json));
  const packedTokenizer = createPackedTokenizer(packed(json), Number.POSITIVE_INFINITY);
  for (const set of ["suite", "all"] as const) {
    const hashes: Record<string, string> = {};
    for (const block of sets[set]) hashes[block.name] = await compare(variant, packedTokenizer, block);
    if (variant in variants) rustIds[set][variant] = hashes;
  }
  for (const block of givenTexts) await compare(variant, packedTokenizer, block);
}
await rm(folder, { recursive: true });
writeFileSync(results, `${JSON.stringify(rustIds, null, 2)}\n`);
