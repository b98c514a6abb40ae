/**
 * Compares the packed tokenizer with @huggingface/tokenizers:
 *
 *     npm run build && node bench/tokenizer.ts [folder]
 *
 * - Size of the files in bytes, plain and gzipped.
 * - Startup: medians over new processes. "code" is the time to load the code. "first ids" is the time from the files'
 *   bytes to the token ids of the first text.
 * - Memory that is still in use after the first ids.
 * - Speed: texts per second, for the calibration texts and for long texts of 512 tokens.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { readTokenizer } from "#sdk/compile/checkpoint/model-folder.ts";
import { packTokenizer } from "#sdk/compile/pack/tokenizer/pack-tokenizer.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { createJsonTokenizer } from "#sdk/runtime/tokenizer/json-tokenizer.ts";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import type { Start } from "./tokenizer/start-child.ts";

const STARTS = 15;
const ROUNDS = 15;
const MAX_TOKENS = 512;
const LINES_A_TEXT = 40;

const folder = process.argv[2] ?? join(import.meta.dirname, "../models/default");
const { json, config } = await readTokenizer(folder);
const packed = packTokenizer(json);
if (!packed) throw new Error(`The tokenizer of ${folder} cannot be packed. Choose a folder with another tokenizer.`);
const encoded = [json, config].map((value) => new TextEncoder().encode(JSON.stringify(value)));
const kinds = {
  packed: { files: [packed], tokenizer: createPackedTokenizer(packed, Number.POSITIVE_INFINITY) },
  json: { files: encoded, tokenizer: createJsonTokenizer(json, config) },
} as const;
const names = ["packed", "json"] as const;

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] as number;
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
/** Measures both tokenizers in interleaved rounds, and returns the medians. */
const inTurn = (rounds: number, measure: (name: (typeof names)[number]) => number[]) => {
  const all = Array.from({ length: rounds }, () => names.map(measure));
  return names.map(
    (_, kind) => all[0]?.[kind]?.map((_, i) => median(all.map((round) => round[kind]?.[i] as number))) ?? [],
  );
};

const long = Array.from({ length: Math.floor(calibrationTexts.length / LINES_A_TEXT) }, (_, i) =>
  calibrationTexts.slice(i * LINES_A_TEXT, (i + 1) * LINES_A_TEXT).join(" "),
);
const perSecond = (texts: readonly string[], name: (typeof names)[number]) => {
  const start = performance.now();
  for (const text of texts) kinds[name].tokenizer.encode(text, MAX_TOKENS);
  return (1000 * texts.length) / (performance.now() - start);
};

const temporary = await mkdtemp(join(tmpdir(), "bert-edge-bench-"));
try {
  const paths = Object.fromEntries(
    names.map((name) => [name, kinds[name].files.map((_, i) => join(temporary, `${name}${i}`))]),
  );
  for (const name of names) {
    for (const [i, bytes] of kinds[name].files.entries()) await writeFile(paths[name]?.[i] as string, bytes);
  }
  const child = join(import.meta.dirname, "tokenizer/start-child.ts");
  const starts = inTurn(STARTS, (name) => {
    const output = execFileSync(process.execPath, ["--expose-gc", child, name, ...(paths[name] ?? [])], {
      encoding: "utf8",
    });
    const { load, firstIds, heap, buffers }: Start = JSON.parse(output);
    return [load, firstIds, heap / 1e6, buffers / 1e6];
  });
  const speeds = inTurn(ROUNDS, (name) => [perSecond(calibrationTexts, name), perSecond(long, name)]);
  for (const [i, name] of names.entries()) {
    const { files } = kinds[name];
    const bytes = sum(files.map(({ length }) => length));
    const gzipped = sum(files.map((file) => gzipSync(file).length));
    const [load, firstIds, heap, buffers] = (starts[i] ?? []).map((figure) => figure.toFixed(2));
    const [short, full] = (speeds[i] ?? []).map(Math.round);
    console.log(
      `${name}: ${bytes} bytes, ${gzipped} gzipped; code ${load} ms, first ids ${firstIds} ms; heap ${heap} MB, buffers ${buffers} MB; ` +
        `${short} texts/s, ${full} of ${MAX_TOKENS} tokens/s`,
    );
  }
} finally {
  await rm(temporary, { recursive: true, force: true });
}
