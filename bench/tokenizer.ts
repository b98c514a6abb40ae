/**
 * Compares the packed tokenizer with @huggingface/tokenizers:
 *
 *     npm run bench -- tokenizer [folder]
 *
 * - Size of the files in bytes, plain and gzipped.
 * - Startup: medians over new processes. "code" is the time to load the code. "first ids" is the time from the files'
 *   bytes to the token ids of the first text.
 * - Memory that is still in use after the first ids.
 * - Speed: texts per second, for the calibration texts and for long texts of 512 tokens.
 *
 * Before they are timed, both must give the same ids for these texts.
 */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { readTokenizer } from "#sdk/compile/checkpoint/model-folder.ts";
import { packTokenizer } from "#sdk/compile/pack/tokenizer/pack-tokenizer.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import { createJsonTokenizer } from "#sdk/runtime/tokenizer/json-tokenizer.ts";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { command, WrongUsage } from "./command.ts";
import { figuresOf } from "./figures.ts";
import { median } from "./run-tool.ts";
import type { Start } from "./tokenizer/start-child.ts";

const ROUNDS = 15;
const MAX_TOKENS = 512;
const LINES_A_TEXT = 40;

const names = ["packed", "json"] as const;
type Name = (typeof names)[number];

const long = Array.from({ length: Math.floor(calibrationTexts.length / LINES_A_TEXT) }, (_, i) =>
  calibrationTexts.slice(i * LINES_A_TEXT, (i + 1) * LINES_A_TEXT).join(" "),
);
const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/** Measures both tokenizers in interleaved rounds, and returns the medians. */
function inTurn(rounds: number, measure: (name: Name) => number[]): Record<Name, number[]> {
  const all = Array.from({ length: rounds }, () => names.map(measure));
  const medians = names.map((_, kind) =>
    (all[0]?.[kind] ?? []).map((_, i) => median(all.map((round) => round[kind]?.[i] as number))),
  );
  return Object.fromEntries(names.map((name, kind) => [name, medians[kind]])) as Record<Name, number[]>;
}

await command(
  { usage: "npm run bench -- tokenizer [folder]", options: {}, allowPositionals: true },
  async ({ values: { short }, positionals, folder, log }) => {
    const [source = join(import.meta.dirname, "../models/default"), ...others] = positionals;
    if (others.length > 0) throw new WrongUsage("Give one folder.");
    const rounds = short ? 1 : ROUNDS;
    const { json, config } = await readTokenizer(source);
    const packed = packTokenizer(json);
    if (!packed)
      throw new WrongUsage(`The tokenizer of ${source} cannot be packed. Choose a folder with another tokenizer.`);
    const kinds = {
      packed: { files: [packed], tokenizer: createPackedTokenizer(packed, Number.POSITIVE_INFINITY) },
      json: {
        files: [json, config].map((value) => new TextEncoder().encode(JSON.stringify(value))),
        tokenizer: createJsonTokenizer(json, config),
      },
    };
    const idsOf = (name: Name, text: string) => `${kinds[name].tokenizer.encode(text, MAX_TOKENS).ids}`;
    const different = [...calibrationTexts, ...long].filter((text) => idsOf("packed", text) !== idsOf("json", text));
    const perSecond = (texts: readonly string[], name: Name) => {
      const start = performance.now();
      for (const text of texts) kinds[name].tokenizer.encode(text, MAX_TOKENS);
      return (1000 * texts.length) / (performance.now() - start);
    };
    const pathsOf = (name: Name) => kinds[name].files.map((_, i) => join(folder, `${name}${i}`));
    for (const name of names) {
      for (const [i, bytes] of kinds[name].files.entries()) await writeFile(pathsOf(name)[i] as string, bytes);
    }
    log.stage("startup");
    const child = join(import.meta.dirname, "tokenizer/start-child.ts");
    const starts = inTurn(rounds, (name) => {
      const output = execFileSync(process.execPath, ["--expose-gc", child, name, ...pathsOf(name)], {
        encoding: "utf8",
      });
      const { load, firstIds, heap, buffers }: Start = JSON.parse(output);
      return [load, firstIds, heap / 1e6, buffers / 1e6];
    });
    log.stage("speed");
    const speeds = inTurn(rounds, (name) => [perSecond(calibrationTexts, name), perSecond(long, name)]);
    const results = names.map((name) => {
      const { files } = kinds[name];
      const [loadMs, firstIdsMs, heapMB, buffersMB] = starts[name] as [number, number, number, number];
      const [short, full] = speeds[name] as [number, number];
      const sizes = {
        bytes: sum(files.map(({ length }) => length)),
        gzipped: sum(files.map((file) => gzipSync(file).length)),
      };
      return { name, ...sizes, loadMs, firstIdsMs, heapMB, buffersMB, short, full };
    });
    return {
      figures: [
        ...figuresOf("packed", { "other ids": [different.length, "differences"] }),
        ...results.flatMap(({ name, bytes, gzipped, loadMs, firstIdsMs, heapMB, buffersMB, short, full }) =>
          figuresOf(name, {
            files: [bytes / 1000, "KB"],
            gzipped: [gzipped / 1000, "KB"],
            code: [loadMs, "ms"],
            "first ids": [firstIdsMs, "ms"],
            heap: [heapMB, "MB in use"],
            buffers: [buffersMB, "MB in use"],
            texts: [short, "per second"],
            "long texts": [full, "per second"],
          }),
        ),
      ],
      text: results
        .map(
          ({ name, bytes, gzipped, loadMs, firstIdsMs, heapMB, buffersMB, short, full }) =>
            `${name}: ${bytes} bytes, ${gzipped} gzipped; code ${loadMs.toFixed(2)} ms, first ids ${firstIdsMs.toFixed(2)} ms; ` +
            `heap ${heapMB.toFixed(2)} MB, buffers ${buffersMB.toFixed(2)} MB; ` +
            `${short.toFixed(0)} texts/s, ${full.toFixed(0)} of ${MAX_TOKENS} tokens/s`,
        )
        .join("\n"),
      details: { source, results },
    };
  },
);
