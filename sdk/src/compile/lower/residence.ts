import { readModelFile } from "../../runtime/engine/wasm/load/model-file.ts";
import type { ExpandTime } from "../../runtime/engine/wasm/ops/operation.ts";
import { BATCH_TOKENS } from "../../runtime/engine/wasm/run/layout.ts";
import { byteLength } from "../graph/tensor.ts";
import { outlineFile, type ProgramOutline } from "./write-model-file.ts";

/** How the engine keeps a model in memory. */
export type Residence =
  /** All of it. Says when weights of 4 bits are expanded. */
  | { readonly kind: "whole"; readonly expands: ExpandTime }
  /** Only some rows of its token embedding table: `resident` always, and `cached` until others need their place. */
  | { readonly kind: "pages"; readonly expands: ExpandTime; readonly resident: number; readonly cached: number }
  /** It does not fit: too few rows of its table do. `bytes`: size of its file without the table. */
  | { readonly kind: "none"; readonly bytes: number };

/**
 * Share of the rows in memory that make room for rows that are needed. Rows of frequent tokens are worth more: with a quarter, three times
 * as many requests wait for the store (`npm run bench -- pages`).
 */
const CACHED_SHARE = 0.05;
/** Minimum number of rows that stay in memory. With fewer, most texts would need pages. */
const MIN_RESIDENT = 1_024;

/**
 * Decides how a model is kept in at most `maxMemory` bytes, the fastest way first: weights of 4 bits are expanded once, or in each call,
 * or the token embedding table is cut into pages too.
 *
 * @param startRows number of rows with which a model starts, if its table is cut into pages although it fits
 */
export function residenceOf(outline: ProgramOutline, maxMemory: number, startRows?: number): Residence {
  const residence = leastCut(outline, maxMemory);
  if (startRows === undefined || residence.kind === "none" || lookupsOf(outline).length !== 1) return residence;
  const { vocabulary } = outline.program;
  // Where all rows fit, at least half of them are absent when the model starts.
  const { resident, cached } =
    residence.kind === "pages" ? residence : { resident: vocabulary >> 1, cached: (vocabulary + 1) >> 1 };
  const moved = Math.max(0, resident - Math.max(startRows, MIN_RESIDENT));
  return { kind: "pages", expands: residence.expands, resident: resident - moved, cached: cached + moved };
}

const lookupsOf = ({ program }: ProgramOutline) => program.steps.filter((step) => step.op === "lookup");

function leastCut(outline: ProgramOutline, maxMemory: number): Residence {
  const file = outlineFile(outline);
  const { begins } = readModelFile(file).expansions;
  if (begins + file.length <= maxMemory) return { kind: "whole", expands: "once" };
  if (file.length <= maxMemory) return { kind: "whole", expands: "each call" };
  const { vocabulary, maxTokens } = outline.program;
  const lookups = lookupsOf(outline);
  const table = outline.tensors.get(lookups[0]?.table ?? "");
  const tableBytes = table ? byteLength(table) : 0;
  const bytes = file.length - tableBytes;
  // A row has a scale.
  const rowBytes = tableBytes / vocabulary + Float32Array.BYTES_PER_ELEMENT;
  const rows = Math.floor((maxMemory - bytes) / rowBytes);
  const cached = Math.max(Math.floor(rows * CACHED_SHARE), maxTokens, BATCH_TOKENS);
  const resident = rows - cached;
  if (lookups.length !== 1 || resident < MIN_RESIDENT) return { kind: "none", bytes };
  return { kind: "pages", expands: "each call", resident, cached };
}

/** Returns a program whose weights of 4 bits, if it has some, are expanded at this time. */
export const expanded = <T extends ProgramOutline>(outline: T, expands: ExpandTime): T =>
  expands === "once" || !outline.program.steps.some((step) => step.op === "linearInt8" && step.group)
    ? outline
    : { ...outline, program: { ...outline.program, expands } };
