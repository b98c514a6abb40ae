/**
 * Compares pairs of texts with Hugging Face's Rust tokenizers, and writes rust-pairs.json for rust-pairs.long.test.ts.
 *
 *     pip install tokenizers && node test/tokenizer/compare-pairs.ts [tokenizer.json …]
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
import { fuzzedPairs } from "./fuzzed-pairs.ts";
import { idsAndTypes } from "./ids-and-types.ts";
import { pairVariants } from "./pair-variants.ts";

const MAX_BYTES = 2 ** 30;
const here = import.meta.dirname;
const pairs = fuzzedPairs();
const given = process.argv.slice(2).map((name) => [name, () => JSON.parse(readFileSync(name, "utf8"))] as const);

const folder = await mkdtemp(join(tmpdir(), "tokenizer-"));
const file = join(folder, "tokenizer.json");
const rustPairs: Record<string, string> = {};
for (const [variant, tokenizer] of [...Object.entries(pairVariants), ...given]) {
  const json = tokenizer();
  writeFileSync(file, JSON.stringify(json));
  const options = { input: JSON.stringify(pairs), maxBuffer: MAX_BYTES };
  const output = execFileSync("python3", [join(here, "rust_pairs.py"), file], options).toString();
  const rust = (JSON.parse(output) as [ids: number[], types: number[]][]).map((each) => each.flat());
  const ours = idsAndTypes(createPackedTokenizer(packed(json), Number.POSITIVE_INFINITY), pairs);
  const differing = pairs.filter((_, i) => ours[i]?.join() !== rust[i]?.join());
  console.log(`${variant}: ${differing.length} of ${pairs.length} pairs differ`);
  for (const pair of differing.slice(0, 3)) console.log(`  ${JSON.stringify(pair)}`);
  if (differing.length > 0) process.exitCode = 1;
  if (variant in pairVariants) rustPairs[variant] = await blockHash(rust);
}
await rm(folder, { recursive: true });
writeFileSync(join(here, "rust-pairs.json"), `${JSON.stringify(rustPairs, null, 2)}\n`);
