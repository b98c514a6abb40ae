import { BertEdgeError } from "../../../../artifact/error.ts";
import { shown } from "../../../../artifact/shown.ts";
import { checkStep } from "../ops/index.ts";
import {
  fieldsOf,
  OperandReader,
  ProgramFault,
  type StoredNumbers,
  sizeOf,
  type TensorRanges,
  type TokenTable,
} from "../ops/operand-reader.ts";
import { expandTimes } from "../ops/operation.ts";
import type { CheckedProgram, CheckedStep } from "../run/checked-program.ts";
import type { Program } from "../run/program.ts";
import type { ProgramValue } from "../run/values.ts";
import type { Expansions } from "./expanded-weights.ts";

/** The parts of a model file that are parsed. */
type ParsedFile = TensorRanges & { readonly program: Program; readonly expansions: Expansions };

/**
 * Checks a program and resolves its operands. Refuses every program that would read or write memory outside its own values
 * and tensors, because kernels do not check their operands.
 *
 * @throws BertEdgeError `model_invalid`
 */
export function parseProgram({ program, expansions, ...tensors }: ParsedFile): CheckedProgram {
  try {
    const checked = parsed(program, tensors);
    const packed = new Set(expansions.weights.map(({ name }) => name));
    const wrong = checked.numbers.find(({ name }) => packed.has(name));
    if (wrong) throw new ProgramFault(`${wrong.name} has weights of 4 bits, and a step reads it as float32 numbers`);
    return { ...checked, fileBegins: expansions.begins };
  } catch (error) {
    if (!(error instanceof ProgramFault)) throw error;
    throw new BertEdgeError("model_invalid", `The engine cannot run the model's program: ${error.message}.`, {
      hint: "Prepare the artifact again with this version of bert-edge.",
    });
  }
}

function parsed(program: Program, tensors: TensorRanges): Omit<CheckedProgram, "fileBegins"> {
  const maxTokens = sizeOf(program.maxTokens, "maxTokens");
  const vocabulary = sizeOf(program.vocabulary, "vocabulary");
  const { expands: given = "once" } = program;
  const expands = expandTimes.find((time) => time === given);
  if (!expands) throw new ProgramFault(`expands is ${shown(given)}, not ${expandTimes.join(" or ")}`);
  const values = listOf(program.values, "values").map(parseValue);
  const written = new Set<number>();
  const tables: TokenTable[] = [];
  const numbers = new Map<string, StoredNumbers>();
  let tensorsEnd = 0;
  const steps = listOf(program.steps, "steps").map((part, at): CheckedStep => {
    const reader = new OperandReader(values, written, tensors);
    try {
      const operation = checkStep(fieldsOf(part, "it"), reader, { maxTokens, vocabulary, expands });
      if (operation.tokenTable) tables.push(operation.tokenTable);
      for (const value of reader.writes) written.add(value);
      // Steps can read parts of the same tensor, such as a position table. The longest part is kept, because it contains the others.
      for (const read of reader.numbers) {
        if (read.count > (numbers.get(read.name)?.count ?? 0)) numbers.set(read.name, read);
      }
      tensorsEnd = Math.max(tensorsEnd, reader.tensorsEnd);
      return { ...operation, reads: reader.reads, writes: reader.writes };
    } catch (error) {
      if (error instanceof ProgramFault) error.message = `step ${at}: ${error.message}`;
      throw error;
    }
  });
  const unused = values.findIndex((_, value) => !written.has(value));
  if (unused >= 0) throw new ProgramFault(`no step writes value ${unused}`);
  if (tables.length > 1 && tables.some((table) => table.pages)) {
    throw new ProgramFault("it has a token embedding table in pages, and another one");
  }
  const { output } = program;
  if (typeof output !== "number" || values[output]?.type !== "f32")
    throw new ProgramFault("its output is not a float32 value");
  const pairs = program.pairs === true;
  return { values, steps, output, maxTokens, vocabulary, pairs, tensorsEnd, tables, numbers: [...numbers.values()] };
}

function listOf(list: unknown, name: string): readonly unknown[] {
  if (Array.isArray(list)) return list;
  throw new ProgramFault(`${name} is not a list`);
}

function parseValue(part: unknown, at: number): ProgramValue {
  const { width, of, type } = fieldsOf(part, `value ${at}`);
  if ((of !== "token" && of !== "sequence") || (type !== "f32" && type !== "i8")) {
    throw new ProgramFault(`value ${at} has an unknown type`);
  }
  return { width: sizeOf(width, `width of value ${at}`), of, type };
}
