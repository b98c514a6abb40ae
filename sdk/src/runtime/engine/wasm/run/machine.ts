import { MODEL, ROW_PARAMETERS } from "../constants/memory.ts";
import type { CheckedProgram, CheckedSkip, CheckedStep, ColumnView, PositionRows } from "./checked-program.ts";
import type { Kernels } from "./kernels.ts";
import { BLOCK, type Layout } from "./layout.ts";
import type { Regions } from "./memory-map.ts";
import { positionBiases, usedBuckets } from "./position-biases.ts";
import type { ProgramValue } from "./program.ts";
import type { Segment } from "./segments.ts";

/** A program, and the memory that it runs in. */
export interface Machine {
  readonly memory: WebAssembly.Memory;
  readonly kernels: Kernels;
  readonly program: CheckedProgram;
  readonly segments: readonly Segment[];
}

/** A batch whose token ids are in memory. */
export interface PlacedBatch {
  readonly layout: Layout;
  readonly regions: Pick<Regions, "values" | "ids" | "scratch">;
  /** Index of the first token of each sequence. The last entry is the number of tokens of the batch. */
  readonly starts: readonly number[];
  /** Index of the first token of each sequence with token type 1; the next sequence's first token if there is none. */
  readonly seconds: readonly number[];
  /** Number of tokens of each sequence, from its first one on, that tokens attend to. */
  readonly attended: readonly number[];
}

/** Computes a program's values for a batch. */
export function run(machine: Machine, batch: PlacedBatch): void {
  const tokens = batch.starts.at(-1) as number;
  for (const { kind, from, to } of machine.segments) {
    const steps = machine.program.steps.slice(from, to);
    const rows = kind === "sequences" ? batch.starts.length - 1 : tokens;
    const block = kind === "rows" ? BLOCK : rows;
    for (let row = 0; row < rows; row += block) {
      runBlock(machine, batch, steps, row, Math.min(block, rows - row));
    }
  }
}

/** Runs steps for `count` rows from row `from` on. */
function runBlock(
  { memory, kernels, program }: Machine,
  batch: PlacedBatch,
  steps: readonly CheckedStep[],
  from: number,
  count: number,
): void {
  const { layout, regions, starts, seconds, attended } = batch;
  const shapeOf = (view: ColumnView) => program.values[view.value] as ProgramValue;
  const firstRow = (view: ColumnView) => (layout.isWhole[view.value] ? from : 0);
  /** Distance from one row of a view to the next, in numbers. */
  const stride = (view: ColumnView) => shapeOf(view).width;
  /** Pointer to a view's row for token `from + offset`. */
  const at = (view: ColumnView, offset = 0) => {
    const { type, width } = shapeOf(view);
    const index = (firstRow(view) + offset) * width + view.column;
    return regions.values + (layout.offsets[view.value] as number) + index * (type === "i8" ? 1 : 4);
  };
  const parameters = (view: ColumnView) =>
    regions.values + (layout.parameters[view.value] as number) + firstRow(view) * ROW_PARAMETERS;
  /** Pointer to a tensor; 0 for none. */
  const tensor = (offset: number | undefined) => (offset === undefined ? 0 : MODEL + offset);

  /**
   * Calls `call` for each sequence that has rows in this block. `rows` is the number of these rows. `offset` is the
   * first row's index in the block. `position` is the first row's index in the sequence.
   */
  const eachSequence = (call: (offset: number, rows: number, position: number, sequence: number) => void) => {
    for (let i = 0; i + 1 < starts.length; i++) {
      const [start, end] = [starts[i] as number, starts[i + 1] as number];
      const [begin, stop] = [Math.max(start, from), Math.min(end, from + count)];
      if (begin < stop) call(begin - from, stop - begin, begin - start, i);
    }
  };
  /**
   * Like eachSequence, but passes a row of the position table instead of a position. Padding tokens can split a sequence
   * into several calls.
   */
  const eachPosition = (
    { padding }: PositionRows,
    call: (offset: number, rows: number, row: number, sequence: number) => void,
  ) =>
    eachSequence((offset, rows, position, sequence) => {
      if (padding === undefined) return call(offset, rows, position, sequence);
      const start = regions.ids + 4 * (from + offset - position);
      const ids = new Int32Array(memory.buffer, start, position + rows);
      if (!ids.includes(padding)) return call(offset, rows, 1 + position, sequence);
      let counted = ids.subarray(0, position).filter((id) => id !== padding).length;
      for (let i = 0; i < rows; i++) call(offset + i, 1, ids[position + i] === padding ? 0 : ++counted, sequence);
    });
  const eachSkip = (skip: CheckedSkip, width: number, call: (offset: number, rows: number, y: number) => void) => {
    if ("view" in skip) return call(0, count, at(skip.view));
    const { positions, second } = skip;
    eachPosition(skip, (offset, rows, row, sequence) => {
      const before = (seconds[sequence] as number) - from - offset;
      const first = second === undefined ? rows : Math.min(Math.max(before, 0), rows);
      if (first > 0) call(offset, first, tensor(positions) + 4 * row * width);
      if (first < rows) call(offset + first, rows - first, tensor(second) + 4 * (row + first) * width);
    });
  };

  const runStep = (step: CheckedStep): void => {
    switch (step.op) {
      case "lookup": {
        const { bits, block, out } = step;
        const [table, scales, ids] = [tensor(step.table), tensor(step.scales), regions.ids + 4 * from];
        if (bits === 8) kernels.lookupInt8(table, scales, ids, count, out.width, at(out));
        else kernels.lookupInt4(table, scales, ids, count, out.width, block, at(out));
        return;
      }
      case "quantize": {
        const { x, out } = step;
        kernels.quantizeRowsInt8(at(x), tensor(step.factors), count, x.width, at(out), parameters(out));
        return;
      }
      case "linearInt8": {
        const { x, out } = step;
        kernels.gemmInt8({
          a: at(x),
          rowParameters: parameters(x),
          m: count,
          k: x.width,
          weight: tensor(step.weight),
          scales: tensor(step.scales),
          zeroPoints: tensor(step.zeroPoints),
          sums: tensor(step.sums),
          bias: tensor(step.bias),
          n: out.width,
          out: at(out),
          stride: out.width,
        });
        return;
      }
      case "linearF32": {
        const { x, weight, bias, out } = step;
        kernels.gemvF32(at(x), count, x.width, tensor(weight), tensor(bias), out.width, at(out));
        return;
      }
      case "layerNorm":
      case "rmsNorm": {
        const { x, skip, epsilon, total, out } = step;
        const gamma = tensor(step.gamma);
        const normalize = (offset: number, rows: number, y: number) => {
          const [from, sum, to] = [at(x, offset), at(total ?? out, offset), at(out, offset)];
          if (step.op === "rmsNorm") kernels.rmsNormF32(from, y, gamma, rows, out.width, epsilon, sum, to);
          else kernels.layerNormF32(from, y, gamma, tensor(step.beta), rows, out.width, epsilon, sum, to);
        };
        if (skip) eachSkip(skip, out.width, normalize);
        else normalize(0, count, 0);
        return;
      }
      case "add": {
        const { x, y, out } = step;
        const add = (offset: number, rows: number, pointer: number, bytes: number) =>
          kernels.addRowsF32(at(x, offset), pointer, bytes, rows, out.width, at(out, offset));
        if ("row" in y) add(0, count, tensor(y.row), 0);
        else eachSkip(y, out.width, (offset, rows, pointer) => add(offset, rows, pointer, 4 * out.width));
        return;
      }
      case "multiply": {
        const { x, y, out } = step;
        const [pointer, yStride] = "row" in y ? [tensor(y.row), 0] : [at(y.view), stride(y.view)];
        kernels.multiplyF32(at(x), stride(x), pointer, yStride, count, out.width, at(out));
        return;
      }
      case "activation": {
        const { kind, x, alpha, out } = step;
        kernels[`${kind}F32`](at(x), stride(x), count, out.width, at(out), alpha);
        return;
      }
      case "rotate": {
        const { x, size } = step;
        eachSequence((offset, rows, position) => {
          const angles = 4 * position * (size / 2);
          const [cosines, sines] = [tensor(step.cosines) + angles, tensor(step.sines) + angles];
          kernels.rotateF32(at(x, offset), stride(x), rows, x.width, size, cosines, sines);
        });
        return;
      }
      case "attention": {
        const { query, key, value, heads, size, scale, bias, positions, out } = step;
        const middle = 4 * (program.maxTokens - 1);
        const row = 4 * (2 * program.maxTokens - 1);
        eachSequence((offset, tokens, _, sequence) => {
          const seen = attended[sequence] as number;
          const bucketOf = positions ? tensor(positions.bucketOf) + middle : 0;
          const used = positions && usedBuckets(memory, bucketOf, tokens, positions.buckets);
          for (let head = 0; head < heads; head++) {
            const column = 4 * head * size;
            const toeplitz = bias && { bias: tensor(bias.table) + row * (head % bias.heads) + middle, biasStep: -4 };
            const dense =
              positions &&
              used &&
              positionBiases(kernels, {
                positions,
                query: at(query, offset) + column,
                key: at(key, offset) + column,
                stride: stride(query),
                tokens,
                size,
                head,
                bucketOf,
                used,
                scratch: regions.scratch,
              });
            const { bias: biases, biasStep } = toeplitz ?? dense ?? { bias: 0, biasStep: 0 };
            for (const first of queryBlocks(tokens, seen)) {
              kernels.attentionInt8({
                query: at(query, offset + first) + column,
                key: at(key, offset) + column,
                value: at(value, offset) + column,
                stride: stride(query),
                tokens: seen,
                size,
                scale,
                bias: biases && biases + first * biasStep,
                biasStep,
                out: at(out, offset + first) + column,
                outStride: stride(out),
                scratch: regions.scratch,
              });
            }
          }
        });
        return;
      }
      case "cls": {
        const { x, out } = step;
        const bytes = new Uint8Array(memory.buffer);
        starts.slice(0, -1).forEach((start, i) => {
          bytes.copyWithin(at(out, i), at(x, start), at(x, start + 1));
        });
        return;
      }
      case "mean": {
        const { x, out } = step;
        starts.slice(1).forEach((end, i) => {
          const start = starts[i] as number;
          kernels.poolMeanF32(at(x, start), end - start, stride(x), at(out, i));
        });
      }
    }
  };
  for (const step of steps) runStep(step);
}

/**
 * Returns the first query of each call of the attention kernel, which computes as many queries as there are keys. The last call
 * repeats some queries of the call before it if they do not divide evenly.
 *
 * @param keys number of tokens that tokens attend to, at most `tokens`
 */
export function queryBlocks(tokens: number, keys: number): number[] {
  const blocks = Math.ceil(tokens / keys);
  return Array.from({ length: blocks }, (_, block) => Math.min(block * keys, tokens - keys));
}
