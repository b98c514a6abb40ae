/**
 * Compares the packed tokenizer with Hugging Face's Rust tokenizers on every fuzzed text, and writes rust-ids.json, what the
 * suite compares with.
 *
 *     pip install tokenizers && node test/tokenizer/compare.ts [tokenizer.json or file of lines …]
 *
 * Tokenizers and lines of the files given are compared too, but not written.
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
import { variants } from "./variants.ts";

const MAX_BYTES = 2 ** 30;
const here = import.meta.dirname;
const blocks = fuzzedTexts();
const isTokenizer = (name: string) => name.endsWith(".json");
const names = process.argv.slice(2);
const given = names
  .filter((name) => !isTokenizer(name))
  .map((name) => ({ name, texts: readFileSync(name, "utf8").split("\n") }));
const tokenizers = names
  .filter(isTokenizer)
  .map((name) => [name, () => JSON.parse(readFileSync(name, "utf8"))] as const);

const folder = await mkdtemp(join(tmpdir(), "tokenizer-"));
const hashes: Record<string, Record<string, string>> = {};
for (const [variant, tokenizer] of [...Object.entries(variants), ...tokenizers]) {
  const json = tokenizer();
  const file = join(folder, "tokenizer.json");
  writeFileSync(file, JSON.stringify(json));
  const { encode } = createPackedTokenizer(packed(json), Number.POSITIVE_INFINITY);
  const hashesOfBlocks: Record<string, string> = {};
  for (const { name, texts } of [...blocks, ...given]) {
    const options = { input: JSON.stringify(texts), maxBuffer: MAX_BYTES };
    const rust: number[][] = JSON.parse(execFileSync("python3", [join(here, "rust_ids.py"), file], options).toString());
    const differing = texts.filter((text, i) => encode(text, MAX_BYTES).ids.join() !== rust[i]?.join());
    console.log(`${variant} · ${name}: ${differing.length} of ${texts.length} texts differ`);
    for (const text of differing.slice(0, 3)) console.log(`  ${JSON.stringify(text)}`);
    if (blocks.some((block) => block.name === name)) hashesOfBlocks[name] = await blockHash(rust);
    if (differing.length > 0) process.exitCode = 1;
  }
  if (variant in variants) hashes[variant] = hashesOfBlocks;
}
await rm(folder, { recursive: true });
writeFileSync(join(here, "rust-ids.json"), `${JSON.stringify(hashes, null, 2)}\n`);
