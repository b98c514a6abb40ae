import type { EngineSession, TokenIds, VectorHead } from "../../engine.ts";
import type { ModelFile } from "../load/model-file.ts";
import { ensure } from "./allocate.ts";
import { batchesOf, checkSequences } from "./batches.ts";
import type { Kernels } from "./kernels.ts";
import { type Layout, layoutOf } from "./layout.ts";
import { type Machine, run } from "./machine.ts";
import { aligned, MODEL } from "./memory-map.ts";
import type { ProgramValue } from "./program.ts";
import { segmentsOf } from "./segments.ts";

/** Tokens that are computed together. More would need more memory, and hardly less time. */
export const BATCH_TOKENS = 256;

/** What is in memory beyond the model, for batches of so many tokens. */
interface Places {
  readonly layout: Layout;
  readonly values: number;
  readonly ids: number;
  readonly vector: number;
  readonly scratch: number;
  readonly end: number;
}

/**
 * A model in memory as a session.
 *
 * @param end of the model's bytes
 * @throws BertEdgeError `memory_full`
 */
export function createSession(
  memory: WebAssembly.Memory,
  kernels: Kernels,
  file: ModelFile,
  end: number,
): EngineSession {
  const { program } = file;
  const segments = segmentsOf(program);
  const result = program.values[program.output] as ProgramValue;
  const addresses = new Map<string, number>();
  const tensor = (name: string): number => {
    const known = addresses.get(name) ?? MODEL + file.tensor(name);
    addresses.set(name, known);
    return known;
  };
  const copy = (from: number, bytes: number, to: number) =>
    void new Uint8Array(memory.buffer).copyWithin(to, from, from + bytes);
  const integers = (at: number, count: number) => new Int32Array(memory.buffer, at, count);
  const machine: Machine = { kernels, program, segments, tensor, copy, integers };

  const placesFor = (tokens: number): Places => {
    const layout = layoutOf(program, segments, tokens);
    const values = aligned(end);
    const ids = values + layout.bytes;
    const vector = aligned(ids + 4 * tokens);
    const scratch = aligned(vector + 4 * result.width);
    const sizes = program.steps.map((step) =>
      step.op === "attention" ? kernels.attentionScratch(tokens, step.size) : 0,
    );
    const places = { layout, values, ids, vector, scratch, end: scratch + Math.max(0, ...sizes) };
    ensure(memory, places.end);
    return places;
  };
  let places = placesFor(Math.min(BATCH_TOKENS, program.maxTokens));

  const runBatch = (sequences: readonly TokenIds[], head: VectorHead | undefined): Float32Array<ArrayBuffer>[] => {
    const starts = [0];
    for (const { length } of sequences) starts.push((starts.at(-1) as number) + length);
    const tokens = starts.at(-1) as number;
    if (tokens > places.layout.tokens) places = placesFor(tokens);
    const { layout, values: base, ids, vector, scratch } = places;
    const view = integers(ids, tokens);
    sequences.forEach((sequence, i) => {
      view.set(sequence, starts[i]);
    });
    run(machine, { layout, base, ids, scratch, starts });
    const output = base + (layout.offsets[program.output] as number);
    return sequences.map(({ length }, i) => {
      const isOfTokens = result.of === "token";
      const rows = output + 4 * result.width * (isOfTokens ? (starts[i] as number) : i);
      if (!head)
        return new Float32Array(memory.buffer.slice(rows, rows + 4 * result.width * (isOfTokens ? length : 1)));
      poolInto(kernels, head, rows, length, result.width, vector);
      return new Float32Array(memory.buffer.slice(vector, vector + 4 * result.width));
    });
  };

  return {
    provider: "wasm",
    target: "edge",
    async run(sequences, head) {
      checkSequences(sequences, program);
      const results: Float32Array<ArrayBuffer>[] = [];
      for (const [i, batch] of batchesOf(sequences, BATCH_TOKENS).entries()) {
        // Deadlines, and other requests, have their turn between batches.
        if (i > 0) await new Promise((resolve) => setTimeout(resolve));
        results.push(...runBatch(batch, head));
      }
      return results;
    },
    memoryBytes: () => memory.buffer.byteLength,
    release: async () => {},
  };
}

function poolInto(
  kernels: Kernels,
  { pooling, normalize }: VectorHead,
  rows: number,
  tokens: number,
  width: number,
  vector: number,
): void {
  if (pooling === "max") kernels.poolMax(rows, tokens, width, vector);
  else kernels.poolMean(rows, pooling === "cls" ? 1 : tokens, width, vector);
  if (normalize) kernels.normalize(vector, width);
}
