import type { ByteSource } from "../../artifact/safetensors.ts";
import { edgeKernels } from "../../local/edge-engine.ts";
import { readModelFile } from "../../runtime/engine/wasm/load/model-file.ts";
import { neededBytes } from "../../runtime/engine/wasm/load/needed-bytes.ts";
import { parseProgram } from "../../runtime/engine/wasm/load/parse-program.ts";
import { instantiate } from "../../runtime/engine/wasm/run/kernels.ts";
import { BATCH_TOKENS, BLOCK } from "../../runtime/engine/wasm/run/layout.ts";
import { WASM_PAGE } from "../../runtime/engine/wasm/run/memory-map.ts";
import type { Program } from "../../runtime/engine/wasm/run/program.ts";
import { roomFor } from "../../runtime/engine/wasm/run/room.ts";
import { segmentsOf } from "../../runtime/engine/wasm/run/segments.ts";
import { isolateMemory } from "./platforms/platforms.ts";

/** What a model takes at the edge. */
export interface EdgeFigures {
  /** Bytes of the model file. */
  readonly fileBytes: number;
  /** Bytes that must arrive before a typical text is answered: the tokenizer, and the model file without rows of rare tokens. */
  readonly startBytes: number;
  /** WebAssembly memory and tokenizer, with a text of the maximum length. */
  readonly memoryBytes: number;
  /** Tokens of the longest text with which the model fits into an isolate; 0 if there is none. */
  readonly longestText: number;
  /** When weights of 4 bits are expanded; undefined if there are none. */
  readonly expanded?: "once" | "each call";
  /** Pages of the token embedding table; undefined if it is whole in the model file. */
  readonly pages?: TableInPages;
}

/** The pages of a token embedding table, and how many of its `vocabulary` rows are in the model file. */
interface TableInPages {
  readonly count: number;
  readonly bytes: number;
  readonly resident: number;
  readonly vocabulary: number;
}

/**
 * Share of the rows of a table that hold all tokens of a typical text. Vocabularies have their frequent tokens first: half of the
 * sentences of STS-B need no row after the first 52 % of BERT's vocabulary.
 */
export const TYPICAL_ROWS = 0.52;

/** The kernels, to ask how much scratch memory they need. They never run. */
const kernels = async () => instantiate((await edgeKernels()).simd, new WebAssembly.Memory({ initial: 1 }));

/**
 * Computes what a model takes at the edge from the header of its model file, as the engine places it in memory.
 *
 * @param file only its header is read
 */
export async function edgeFigures(file: ByteSource, tokenizerBytes: number): Promise<EdgeFigures> {
  const read = readModelFile(file);
  const { maxTokens, steps, expands = "once" } = read.program;
  const program = parseProgram(read);
  const machine = { kernels: await kernels(), program, segments: segmentsOf(program) };
  const memoryWith = (tokens: number) =>
    WASM_PAGE * Math.ceil(roomFor(machine, program.fileBegins + file.length, tokens).regions.end / WASM_PAGE) +
    tokenizerBytes;
  const pages = program.tables.find((table) => table.pages)?.pages;
  const rows = pages?.resident ?? Math.ceil(TYPICAL_ROWS * program.vocabulary);
  return {
    fileBytes: file.length,
    startBytes: neededBytes(program, rows) + tokenizerBytes,
    memoryBytes: memoryWith(Math.max(maxTokens, BATCH_TOKENS)),
    longestText: longestWithin(maxTokens, (tokens) => memoryWith(tokens) <= isolateMemory.value),
    ...(steps.some((step) => step.op === "linearInt8" && step.group) && { expanded: expands }),
    ...(pages && {
      pages: { count: pages.count, bytes: pages.bytes, resident: pages.resident, vocabulary: program.vocabulary },
    }),
  };
}

/** Returns the largest multiple of a block, or `maxTokens` itself, that fits; 0 if not even one block does. */
function longestWithin(maxTokens: number, fits: (tokens: number) => boolean): number {
  if (fits(maxTokens)) return maxTokens;
  let [low, high] = [0, Math.floor((maxTokens - 1) / BLOCK)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle * BLOCK)) low = middle;
    else high = middle - 1;
  }
  return low * BLOCK;
}

/**
 * Rates of one core of a Zen 5, from docs/engine.md: multiplications per millisecond of linear layers and of attention, and numbers per
 * millisecond of all other steps, and of weights of 4 bits that are expanded. On a Xeon with VNNI, models take 1.3 to 2.4 times as long.
 */
const PER_MS = { linear: 121e6, attention: 61e6, other: 3.4e6, expanded: 50e6 };

/** Estimates the CPU time for a text of `tokens` tokens in milliseconds. Off by up to 7 % on the machine whose rates it uses. */
export function estimatedMs({ steps, values, expands }: Pick<Program, "steps" | "values" | "expands">, tokens: number) {
  const widthOf = (value: number) => values[value]?.width ?? 0;
  const rowsOf = (value: number) => (values[value]?.of === "token" ? tokens : 1);
  const msOf = (step: Program["steps"][number]): number => {
    if (step.op === "attention") return (2 * step.heads * step.size * tokens ** 2) / PER_MS.attention;
    if (step.op === "rotate") return (step.width * tokens) / PER_MS.other;
    if (step.op !== "linearInt8") return (widthOf(step.out) * rowsOf(step.out)) / PER_MS.other;
    const weights = widthOf(step.x) * widthOf(step.out);
    const blocks = step.group && expands === "each call" ? Math.ceil(tokens / BLOCK) : 0;
    return (weights * rowsOf(step.out)) / PER_MS.linear + (blocks * weights) / PER_MS.expanded;
  };
  return steps.reduce((sum, step) => sum + msOf(step), 0);
}

/** A store at some distance: milliseconds before a response begins, and bytes per millisecond. */
const STORE = { responseMs: 20, bytesPerMs: 50_000 };
/** Responses that follow each other: the pointer, which has the manifest, and the model file. Others arrive beside the model file. */
const RESPONSES = 2;
/** What a cold isolate needs besides: JavaScript that runs for the first time, hashing, the tokenizer, sending the answer. */
const OTHER_MS = 40;

/**
 * Estimates the milliseconds to the first answer of a cold isolate, from a store of 20 ms and 50 MB/s.
 *
 * @param ms CPU time of the text
 */
export const estimatedColdStartMs = ({ startBytes }: Pick<EdgeFigures, "startBytes">, ms: number): number =>
  RESPONSES * STORE.responseMs + startBytes / STORE.bytesPerMs + OTHER_MS + ms;
