import { BertEdgeError } from "../../../artifact/error.ts";
import { type InputLine, lineSplitter } from "../../../bulk/line-splitter.ts";
import { parseLine } from "../../../bulk/parse-line.ts";
import { openFile } from "../../files/regular-file.ts";
import { MAX_DATA_BYTES, tooLarge } from "../../files/whole-file.ts";
import type { GoldenModel } from "./expected-answer.ts";
import { answerKeysOf, type GoldenLine, readGoldenLine } from "./golden-line.ts";
import { Misfit } from "./misfit.ts";

/** The user's own proof. */
export interface GoldenOptions {
  /**
   * Path of a golden file: texts with the answers of the system that the user has today, one JSON object per line. docs/golden.md
   * describes the format.
   */
  golden?: string | undefined;
  /**
   * Minimum agreement of each line: the cosine of vectors, or 1 minus the largest difference of scores. Default of `prepare`: 0.9999
   * for vectors and 0.999 for scores. Lower it if the present system is quantized.
   */
  goldenMin?: number | undefined;
}

/** Longest line in bytes: 512 token vectors with 1,024 numbers of 20 characters each. */
const MAX_LINE_BYTES = 16 * 2 ** 20;

/** JSON has no NaN, but Python's `json` writes it. */
const NOT_A_NUMBER = /\b(NaN|Infinity)\b/;

const HINT =
  'Write a line such as {"text": "to be", "embedding": [0.1, …]} for each text. The page "Your own proof" has the format, and the lines that write such a file.';

/**
 * Reads a golden file: texts with the answers of the system that the user has today.
 *
 * @returns at least one line
 * @throws BertEdgeError `data_missing`; `data_invalid` for a broken line; `data_unsuitable` for what the model does not have. The
 *   message names the line
 */
export async function readGolden(path: string, model: GoldenModel): Promise<readonly GoldenLine[]> {
  if (answerKeysOf(model.task).length === 0) {
    throw new BertEdgeError("data_unsuitable", `Models with the task ${model.task.task} take no golden file.`, {
      hint: "Leave --golden out. It is for sentence encoders, classifiers, rerankers, sparse encoders and token vectors.",
    });
  }
  const splitter = lineSplitter(1, MAX_LINE_BYTES);
  const lines: GoldenLine[] = [];
  const add = (found: readonly InputLine[]) => {
    for (const each of found) lines.push(...goldenLineOf(each, path, model));
  };
  for await (const piece of piecesOf(path)) add(splitter.push(piece));
  add(splitter.end());
  if (lines.length > 0) return lines;
  throw new BertEdgeError("data_invalid", `${path} has no lines.`, { hint: HINT });
}

function goldenLineOf(input: InputLine, path: string, model: GoldenModel): GoldenLine[] {
  const refuse = ({ code, message }: Misfit) =>
    new BertEdgeError(code, `Line ${input.number} of ${path}: ${message}`, { hint: HINT });
  const parsed = parseLine(input, MAX_LINE_BYTES);
  if (!parsed) return [];
  if ("reason" in parsed) {
    const text = new TextDecoder().decode(input.bytes);
    const why = NOT_A_NUMBER.exec(text) ? " It has NaN or Infinity: the present system computed no number there." : "";
    throw refuse(new Misfit("data_invalid", `${parsed.reason}${why}`));
  }
  try {
    return [readGoldenLine(input.number, parsed.value, model)];
  } catch (error) {
    throw error instanceof Misfit ? refuse(error) : error;
  }
}

async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    let bytes = 0;
    for await (const piece of (await openFile(path)).createReadStream()) {
      bytes += (piece as Uint8Array).length;
      if (bytes > MAX_DATA_BYTES) throw tooLarge(path, `more than ${MAX_DATA_BYTES} bytes`, MAX_DATA_BYTES);
      yield piece as Uint8Array;
    }
  } catch (cause) {
    if (cause instanceof BertEdgeError) throw cause;
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw new BertEdgeError("data_missing", `${path} ${isMissing ? "does not exist" : "cannot be read"}.`, {
      hint: HINT,
      cause,
    });
  }
}
