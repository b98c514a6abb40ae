import type { Manifest, Target, TargetName } from "../../../artifact/manifest.ts";
import type { Measurements } from "../../../artifact/measurements.ts";
import { predictedMs, type TargetNeeds } from "./fit.ts";

const KIBIBYTE = 1024;

/**
 * Bytes of the code that is deployed for each engine, measured in November 2026. Workers: upload of `wrangler deploy
 * --dry-run`, uncompressed. Region: its bundle and onnxruntime-node 1.30 for x64 Linux.
 */
const CODE_BYTES: Readonly<Record<Target["engine"], number>> = {
  wasm: 449 * KIBIBYTE,
  "ort-web": 14_394 * KIBIBYTE,
  "ort-node": 46_900_000,
};

/**
 * Memory of a region's process on a CPU: `REGION_BASE_BYTES` plus `REGION_BYTES_PER_MODEL_BYTE` times the size of the model
 * file. Measured (VmHWM, one text of 242 tokens): 162 MB for a file of 18 MB, 181 for 24, 413 for 111.
 */
const REGION_BASE_BYTES = 115e6;
const REGION_BYTES_PER_MODEL_BYTE = 2.7;

/** Bytes of memory of a tokenizer that ships as tokenizer.json, for a vocabulary of 250,000 tokens: see docs/limits.md. */
const JSON_TOKENIZER_BYTES = 143e6;

/**
 * Returns what a target of an artifact needs for requests of `tokens` tokens.
 *
 * - `edge`: measured WebAssembly memory, and the tokenizer
 * - `regional-cpu`: predicted from the size of the model file
 * - `regional-gpu`: the model file alone, because nothing was measured on a GPU
 */
export function targetNeeds(
  { files, tokenizer }: Manifest,
  name: TargetName,
  { engine, model }: Target,
  { latency, memory }: Measurements[TargetName] & object,
  tokens: number,
): TargetNeeds {
  const modelBytes = files[model]?.size ?? 0;
  const tokenizerBytes = tokenizer.kind === "json" ? JSON_TOKENIZER_BYTES : (files[tokenizer.file]?.size ?? 0);
  const needed: Readonly<Record<TargetName, number | undefined>> = {
    edge: memory && memory.peak + tokenizerBytes,
    "regional-cpu": REGION_BASE_BYTES + REGION_BYTES_PER_MODEL_BYTE * modelBytes,
    "regional-gpu": modelBytes,
  };
  return {
    engine,
    memory: needed[name],
    code: CODE_BYTES[engine],
    ms: latency && predictedMs(latency, tokens),
  };
}
