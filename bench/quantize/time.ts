import type { Graph } from "#sdk/compile/graph/graph.ts";
import { fromOnnx } from "#sdk/compile/onnx/from-onnx.ts";
import { readOnnx } from "#sdk/compile/onnx/read-onnx.ts";
import type { TokenIds } from "#sdk/runtime/engine/engine.ts";
import { median } from "../run-tool.ts";
import { type Encoder, openEncoder, vocabularyOf } from "./encoder.ts";

/** Milliseconds per text, by the number of tokens in the text. */
export type Times = Readonly<Record<number, number>>;

const TOKENS = [16, 128] as const;

/** Vocabulary size if the token embedding table is not found. Every BERT has a larger vocabulary. */
const MIN_VOCABULARY = 1000;

/**
 * Times files in interleaved rounds. The first file is the original.
 *
 * @returns times by file. Files that do not run are absent; `score` reports why they do not run.
 */
export async function time(files: readonly string[], rounds: number): Promise<Record<string, Times>> {
  const graph = fromOnnx(await readOnnx(files[0] ?? ""));
  const vocabulary = vocabularyOf(graph) ?? MIN_VOCABULARY;
  const texts = TOKENS.map((length) => Int32Array.from({ length }, (_, i) => (i * 7919 + length) % vocabulary));
  const encoders = new Map<string, Encoder>();
  for (const file of files) {
    const encoder = await running(file, graph, texts).catch(() => undefined);
    if (encoder) encoders.set(file, encoder);
  }
  const samples = new Map([...encoders.keys()].map((file) => [file, texts.map((): number[] => [])]));
  for (let round = 0; round < rounds; round++) {
    for (const [i, text] of texts.entries()) {
      for (const [file, encode] of encoders) samples.get(file)?.[i]?.push(await warmMs(encode, text));
    }
  }
  const timesOf = (ms: readonly (readonly number[])[]) =>
    Object.fromEntries(TOKENS.map((length, i) => [length, median(ms[i] ?? [])]));
  return Object.fromEntries([...samples].map(([file, ms]) => [file, timesOf(ms)]));
}

async function running(file: string, graph: Graph, texts: readonly TokenIds[]): Promise<Encoder> {
  const encode = await openEncoder(file, graph);
  await encode(texts);
  return encode;
}

/** Times the second of two runs. The first run refills the caches, which the other models used in between. */
async function warmMs(encode: Encoder, text: TokenIds): Promise<number> {
  await encode([text]);
  const start = performance.now();
  await encode([text]);
  return performance.now() - start;
}
