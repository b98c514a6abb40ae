import type { Kernels } from "./kernels.ts";
import { BLOCK, type Layout } from "./layout.ts";
import type { Addend, Positions, Program, Step, View } from "./program.ts";
import type { Segment } from "./segments.ts";

/** A batch: where each sequence begins among the tokens; one more entry for the end. */
export type Starts = readonly number[];

export interface Machine {
  readonly kernels: Kernels;
  readonly program: Program;
  readonly segments: readonly Segment[];
  /** Where a tensor is in memory. */
  tensor(name: string): number;
  copy(from: number, bytes: number, to: number): void;
  /** i32 [count] in memory. */
  integers(at: number, count: number): Int32Array;
}

/** Where everything is for one batch. */
interface Places {
  readonly layout: Layout;
  /** Of the layout's bytes. */
  readonly base: number;
  /** i32 [tokens] */
  readonly ids: number;
  readonly scratch: number;
  readonly starts: Starts;
}

/** Computes a program's values for a batch whose token ids are in memory. */
export function run(machine: Machine, places: Places): void {
  const { program, segments } = machine;
  const tokens = places.starts.at(-1) as number;
  for (const { kind, from, to } of segments) {
    const steps = program.steps.slice(from, to);
    if (kind === "rows") {
      for (let row = 0; row < tokens; row += BLOCK) {
        for (const step of steps) runStep(machine, places, step, row, Math.min(BLOCK, tokens - row));
      }
    } else
      for (const step of steps)
        runStep(machine, places, step, 0, kind === "sequences" ? places.starts.length - 1 : tokens);
  }
}

/** One step for `count` rows from `from` on. */
function runStep(machine: Machine, places: Places, step: Step, from: number, count: number): void {
  const { kernels, program, tensor } = machine;
  const { layout, base } = places;
  const width = (value: number) => program.values[value]?.width as number;
  const first = (value: number) => (layout.isWhole[value] ? from : 0);
  const at = (value: number) => {
    const size = program.values[value]?.type === "i8" ? 1 : 4;
    return base + (layout.offsets[value] as number) + first(value) * width(value) * size;
  };
  const parameters = (value: number) => base + (layout.parameters[value] as number) + first(value) * 16;
  const columns = ({ value, column }: View) => at(value) + 4 * column;
  /** The rows by sequence: those from `offset` on have the positions from `position` on. */
  const eachRun = (call: (offset: number, rows: number, position: number) => void) => {
    for (let i = 0; i + 1 < places.starts.length; i++) {
      const [start, end] = [places.starts[i] as number, places.starts[i + 1] as number];
      const [begin, stop] = [Math.max(start, from), Math.min(end, from + count)];
      if (begin < stop) call(begin - from, stop - begin, begin - start);
    }
  };
  /** As eachRun, with the row of a table that the first of some tokens has; those after it have the next. */
  const eachPlace = ({ padding }: Positions, call: (offset: number, rows: number, row: number) => void) =>
    eachRun((offset, rows, position) => {
      if (padding === undefined) return call(offset, rows, position);
      const ids = machine.integers(places.ids + 4 * (from + offset - position), position + rows);
      if (!ids.includes(padding)) return call(offset, rows, 1 + position);
      let counted = ids.subarray(0, position).filter((id) => id !== padding).length;
      for (let i = 0; i < rows; i++) call(offset + i, 1, ids[position + i] === padding ? 0 : ++counted);
    });
  const eachAddend = (
    addend: Addend,
    size: number,
    call: (offset: number, rows: number, y: number, isRow: boolean) => void,
  ) => {
    if ("value" in addend) call(0, count, at(addend.value), false);
    else if ("row" in addend) call(0, count, tensor(addend.row), true);
    else eachPlace(addend, (offset, rows, row) => call(offset, rows, tensor(addend.positions) + 4 * row * size, false));
  };
  switch (step.op) {
    case "lookup": {
      const ids = places.ids + 4 * from;
      const [table, steps] = [tensor(step.table), tensor(step.steps)];
      if (step.bits === 8) kernels.lookupInt8(table, steps, ids, count, width(step.out), at(step.out));
      else kernels.lookupInt4(table, steps, ids, count, width(step.out), step.block, at(step.out));
      return;
    }
    case "quantize": {
      const factors = step.factors === undefined ? 0 : tensor(step.factors);
      kernels.quantizeRows(at(step.x), factors, count, width(step.x), at(step.out), parameters(step.out));
      return;
    }
    case "linear":
      kernels.multiply(
        at(step.x),
        parameters(step.x),
        count,
        width(step.x),
        tensor(step.weight),
        tensor(step.scale),
        tensor(step.zero),
        tensor(step.sum),
        tensor(step.bias),
        width(step.out),
        at(step.out),
        width(step.out),
      );
      return;
    case "layerNorm": {
      const [gamma, beta] = [tensor(step.gamma), step.beta === undefined ? 0 : tensor(step.beta)];
      const size = width(step.out);
      const normalize = (offset: number, rows: number, skip: number) => {
        const out = at(step.out) + 4 * offset * size;
        const total = step.total === undefined ? out : at(step.total) + 4 * offset * size;
        kernels.layerNorm(at(step.x) + 4 * offset * size, skip, gamma, beta, rows, size, step.epsilon, total, out);
      };
      if (!step.skip) normalize(0, count, 0);
      else eachAddend(step.skip, size, normalize);
      return;
    }
    case "add":
      eachAddend(step.y, width(step.out), (offset, rows, y, isRow) => {
        const skipped = 4 * offset * width(step.out);
        const yStep = isRow ? 0 : 4 * width(step.out);
        kernels.addRows(at(step.x) + skipped, y, yStep, rows, width(step.out), at(step.out) + skipped);
      });
      return;
    case "gate": {
      const [y, stride] = "row" in step.y ? [tensor(step.y.row), 0] : [columns(step.y), width(step.y.value)];
      kernels.gate(columns(step.x), width(step.x.value), y, stride, count, width(step.out), at(step.out));
      return;
    }
    case "activation":
      kernels[step.kind](columns(step.x), width(step.x.value), count, width(step.out), at(step.out), step.alpha ?? 0);
      return;
    case "rotate":
      eachRun((offset, rows, position) => {
        const angles = 4 * position * (step.size / 2);
        const x = columns(step.x) + 4 * offset * width(step.x.value);
        const [cosines, sines] = [tensor(step.cosines) + angles, tensor(step.sines) + angles];
        kernels.rotate(x, width(step.x.value), rows, step.width, step.size, cosines, sines);
      });
      return;
    case "attention": {
      const span = program.maxTokens;
      for (let i = 0; i + 1 < places.starts.length; i++) {
        const start = places.starts[i] as number;
        const tokens = (places.starts[i + 1] as number) - start;
        for (let head = 0; head < step.heads; head++) {
          const part = (view: View) => columns(view) + 4 * (start * width(view.value) + head * step.size);
          const bias = step.bias ? tensor(step.bias.table) + 4 * (2 * span - 1) * (head % step.bias.heads) : 0;
          kernels.attention(
            part(step.query),
            part(step.key),
            part(step.value),
            width(step.query.value),
            tokens,
            step.size,
            step.scale,
            bias,
            span,
            part({ value: step.out, column: 0 }),
            width(step.out),
            places.scratch,
          );
        }
      }
      return;
    }
    case "cls":
      places.starts.slice(0, -1).forEach((start, i) => {
        const bytes = 4 * width(step.x);
        machine.copy(at(step.x) + start * bytes, bytes, at(step.out) + i * bytes);
      });
      return;
    case "dense":
      kernels.dense(
        at(step.x),
        count,
        width(step.x),
        tensor(step.weight),
        tensor(step.bias),
        width(step.out),
        at(step.out),
      );
  }
}
