import { BertEdgeError } from "../../../../artifact/error.ts";
import { type Columns, usesOf } from "../run/step-uses.ts";
import type { ModelFile } from "./model-file.ts";

/**
 * Looks for what would make kernels, which check nothing, read or write what is not there.
 *
 * @throws BertEdgeError `model_invalid`
 */
export function checkProgram(file: ModelFile): void {
  const fault = faultOf(file);
  if (fault === undefined) return;
  throw new BertEdgeError("model_invalid", `The model's program cannot be run: ${fault}.`, {
    hint: "Prepare the artifact again with this version of bert-edge.",
  });
}

function faultOf(file: ModelFile): string | undefined {
  try {
    return firstFault(file);
  } catch {
    return "parts of it are missing";
  }
}

function firstFault({ program, size }: ModelFile): string | undefined {
  const { values, steps, output, maxTokens, vocabulary } = program;
  if (![maxTokens, vocabulary, ...values.map(({ width }) => width)].every(isCount)) return "a size is no number";
  const written = new Set<number>();
  const isThere = ({ value, column, width }: Columns) => {
    const all = values[value]?.width ?? 0;
    return column === undefined ? width === all : isWhole(column) && isCount(width) && column + width <= all;
  };
  for (const [at, step] of steps.entries()) {
    const uses = usesOf(step, program);
    if (!uses || Object.values(step).includes(null as never)) return `step ${at} is unknown`;
    const { reads, writes, tensors = [], counts = [], factors = [], isOfTokens = false } = uses;
    if (!reads.every((each) => isThere(each) && written.has(each.value))) return `step ${at} reads what is not there`;
    if (!writes.every(isThere)) return `step ${at} has no room for its result`;
    if (!counts.every(isCount)) return `step ${at} has a size that no kernel takes`;
    if (!factors.every((factor) => typeof factor === "number")) return `step ${at} has a factor that is no number`;
    const isBytes = ({ value }: Columns) => values[value]?.type === "i8";
    if (!reads.every((each) => isBytes(each) === (step.op === "linear"))) return `step ${at} reads another type`;
    if (!writes.every((each) => isBytes(each) === (step.op === "quantize"))) return `step ${at} writes another type`;
    const rows = isOfTokens ? "token" : values[reads[0]?.value as number]?.of;
    const [from, to] = step.op === "cls" ? ["token", "sequence"] : [rows, rows];
    const areOf = (some: readonly Columns[], of: string | undefined) =>
      some.every(({ value }) => values[value]?.of === of);
    if (!areOf(reads, from) || !areOf(writes, to)) return `step ${at} mixes rows of tokens and of sequences`;
    const short = tensors.find(([tensor, bytes]) => !((size(tensor) ?? 0) >= bytes));
    if (short) return `step ${at} needs a tensor ${short[0]} of ${short[1]} bytes`;
    for (const { value } of writes) written.add(value);
  }
  return written.has(output) && values[output]?.type === "f32" ? undefined : "no step makes its result";
}

const isWhole = (number: number) => Number.isInteger(number) && number >= 0;
const isCount = (number: number) => Number.isInteger(number) && number > 0;
