import { readModelFile } from "../../runtime/engine/wasm/load/model-file.ts";
import type { ExpandTime } from "../../runtime/engine/wasm/ops/operation.ts";
import { BATCH_TOKENS } from "../../runtime/engine/wasm/run/layout.ts";
import { byteLength } from "../graph/tensor.ts";
import { outlineOfPages } from "./cut-into-pages.ts";
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
const SCALE_BYTES = Float32Array.BYTES_PER_ELEMENT;

/**
 * Decides how a model is kept in at most `maxMemory` bytes, the fastest way first: weights of 4 bits are expanded once, or in each call,
 * or the token embedding table is cut into pages too.
 *
 * @param frequent number of different tokens in the calibration texts, which the file of a table in pages lists
 * @param pages whether the table is cut into pages although it fits. The model then starts with the rows of frequent tokens
 */
export function residenceOf(
  outline: ProgramOutline,
  maxMemory: number,
  frequent: () => number,
  pages = false,
): Residence {
  const residence = leastCut(outline, maxMemory, frequent);
  if (!pages || residence.kind === "none" || lookupsOf(outline).length !== 1) return residence;
  const { vocabulary } = outline.program;
  // Where all rows fit, at least half of them are absent when the model starts.
  const { resident, cached } =
    residence.kind === "pages" ? residence : { resident: vocabulary >> 1, cached: (vocabulary + 1) >> 1 };
  const moved = Math.max(0, resident - Math.max(frequent(), MIN_RESIDENT));
  return { kind: "pages", expands: residence.expands, resident: resident - moved, cached: cached + moved };
}

const lookupsOf = ({ program }: ProgramOutline) => program.steps.filter((step) => step.op === "lookup");

function leastCut(outline: ProgramOutline, maxMemory: number, frequent: () => number): Residence {
  const file = outlineFile(outline);
  const { begins } = readModelFile(file).expansions;
  if (begins + file.length <= maxMemory) return { kind: "whole", expands: "once" };
  if (file.length <= maxMemory) return { kind: "whole", expands: "each call" };
  const { vocabulary, maxTokens } = outline.program;
  const [lookup, another] = lookupsOf(outline);
  const table = outline.tensors.get(lookup?.table ?? "");
  const tableBytes = table ? byteLength(table) : 0;
  if (!table || another || vocabulary <= MIN_RESIDENT) return { kind: "none", bytes: file.length - tableBytes };
  // The engine has the scale of a row twice if the row is in the file.
  const inFile = tableBytes / vocabulary + SCALE_BYTES;
  const rowBytes = inFile + SCALE_BYTES;
  const least = outlineOfPages(outline, { resident: MIN_RESIDENT, cached: 0, frequent: frequent() });
  const bytes = outlineFile(least).length - MIN_RESIDENT * inFile;
  const rows = Math.floor((maxMemory - bytes) / rowBytes);
  const cached = Math.max(Math.floor(rows * CACHED_SHARE), maxTokens, BATCH_TOKENS);
  const resident = rows - cached;
  if (resident < MIN_RESIDENT) return { kind: "none", bytes };
  return { kind: "pages", expands: "each call", resident, cached };
}

/** Returns a program whose weights of 4 bits, if it has some, are expanded at this time. */
export const expanded = <T extends ProgramOutline>(outline: T, expands: ExpandTime): T =>
  expands === "once" || !outline.program.steps.some((step) => step.op === "linearInt8" && step.group)
    ? outline
    : { ...outline, program: { ...outline.program, expands } };
