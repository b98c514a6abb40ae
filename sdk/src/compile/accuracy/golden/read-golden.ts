import { BertEdgeError } from "../../../artifact/error.ts";
import type { Task } from "../../../artifact/manifest.ts";
import { shown } from "../../../artifact/shown.ts";
import { type InputLine, lineSplitter } from "../../../bulk/line-splitter.ts";
import { parseLine } from "../../../bulk/parse-line.ts";
import type { SearchRole } from "../../../runtime/tasks/late-interaction.ts";
import { promptsOf } from "../../../runtime/tasks/prompt.ts";
import type { TextInput } from "../../../runtime/text-input.ts";
import { openFile } from "../../files/regular-file.ts";
import { MAX_DATA_BYTES, tooLarge } from "../../files/whole-file.ts";
import { type Expected, type GoldenModel, Misfit, readExpectedAnswer } from "./expected-answer.ts";

/** A line of a golden file: what the user's present system was asked, and what it answered. */
export interface GoldenLine {
  /** Number of the line, from 1. */
  readonly line: number;
  /** A text, or two texts that the model reads as a pair. */
  readonly input: TextInput;
  /** Name of the prompt before the text. Default: the model's default prompt. */
  readonly prompt?: string | undefined;
  readonly side?: SearchRole | undefined;
  readonly expected: Expected;
}

/** Keys that lines for any task may have. */
const COMMON = ["id", "text", "text_pair", "prompt_name", "side"];

/** Keys of the answer in a line, by task. */
const answerKeys: Readonly<Record<Task["task"], readonly string[]>> = {
  embed: ["embedding"],
  "token-vectors": ["embeddings"],
  sparse: ["sparse"],
  classify: ["score", "scores", "label"],
  tag: [],
  answer: [],
  "fill-mask": [],
};

/** Returns the keys under which a line can give the answer of a task; none if the task takes no golden file. */
const answerKeysOf = ({ task }: Pick<Task, "task">): readonly string[] => answerKeys[task];

/**
 * Reads a line's JSON value.
 *
 * @throws Misfit if the line is invalid or does not fit the model
 */
function readGoldenLine(line: number, value: unknown, model: GoldenModel): GoldenLine {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Misfit("data_invalid", "The line is not a JSON object.");
  }
  const fields = value as Record<string, unknown>;
  const possible = answerKeysOf(model.task);
  const unknown = Object.keys(fields).find((key) => ![...COMMON, ...possible].includes(key));
  if (unknown !== undefined) throw unknownKey(unknown, model.task, possible);
  const given = possible.filter((key) => fields[key] !== undefined);
  const [key] = given;
  if (key === undefined || given.length > 1) {
    const found = key === undefined ? "none of them" : given.map(quoted).join(" and ");
    throw new Misfit("data_invalid", `The line needs one of ${possible.map(quoted).join(", ")}, and has ${found}.`);
  }
  return {
    line,
    input: inputOf(fields, model.task),
    prompt: promptOfLine(fields.prompt_name, model.task),
    side: sideOfLine(fields.side, fields.prompt_name, model.task),
    expected: readExpectedAnswer(key, fields[key], model),
  };
}

function unknownKey(key: string, { task }: Task, possible: readonly string[]): Misfit {
  const other = Object.keys(answerKeys).find((each) => answerKeys[each as Task["task"]].includes(key));
  return other === undefined
    ? new Misfit(
        "data_invalid",
        `The key ${shown(key)} is unknown. Known keys: ${[...COMMON, ...possible].join(", ")}.`,
      )
    : new Misfit("data_unsuitable", `${quoted(key)} is for models with the task ${other}, but this model has ${task}.`);
}

function inputOf({ text, text_pair: pair }: Record<string, unknown>, task: Task): TextInput {
  const takesPair = task.task === "classify" && task.input === "pair";
  const first = textOf("text", text);
  if (takesPair) return [first, textOf("text_pair", pair)];
  if (pair === undefined) return first;
  throw new Misfit("data_unsuitable", "The line has `text_pair`, but the model reads single texts.");
}

function textOf(key: string, value: unknown): string {
  if (typeof value !== "string") {
    throw new Misfit("data_invalid", value === undefined ? `There is no \`${key}\`.` : `\`${key}\` is not a string.`);
  }
  if (value.trim() !== "") return value;
  throw new Misfit("data_invalid", `\`${key}\` is empty.`);
}

function promptOfLine(name: unknown, task: Task): string | undefined {
  if (name === undefined || name === null) return undefined;
  if (task.task === "classify") {
    throw new Misfit(
      "data_unsuitable",
      "`prompt_name` has no meaning here: classifiers have only their default prompt.",
    );
  }
  const prompts = Object.keys(promptsOf(task));
  if (typeof name === "string" && prompts.includes(name)) return name;
  const known = prompts.length > 0 ? `Its prompts: ${prompts.join(", ")}.` : "It has no prompts.";
  throw new Misfit("data_unsuitable", `The model has no prompt ${shown(name)}. ${known}`);
}

function sideOfLine(side: unknown, prompt: unknown, task: Task): SearchRole | undefined {
  if (side === undefined || side === null) return undefined;
  if (side !== "query" && side !== "document") {
    throw new Misfit("data_invalid", `\`side\` is ${shown(side)}. It can be "query" or "document".`);
  }
  if (task.task === "classify") {
    throw new Misfit("data_unsuitable", `\`side\` has no meaning for models with the task ${task.task}.`);
  }
  if (prompt === undefined || prompt === null) return side;
  throw new Misfit(
    "data_invalid",
    "The line has `prompt_name` and `side`. Give only one of them, because each of them chooses the prompt.",
  );
}

const quoted = (key: string): string => `\`${key}\``;

/** Options for comparing a model with the answers of the user's present system. */
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

/** Maximum bytes of a line: enough for 512 token vectors of 1,024 numbers, with 20 characters per number. */
const MAX_LINE_BYTES = 16 * 2 ** 20;

/** Matches NaN and Infinity, which JSON does not allow, but Python's `json` writes. */
const NOT_A_NUMBER = /\b(NaN|Infinity)\b/;

const HINT =
  'Write a line such as {"text": "to be", "embedding": [0.1, …]} for each text. The page "Your own proof" has the format, and the code that writes such a file.';

/**
 * Reads a golden file: texts with the answers of the system that the user has today.
 *
 * @returns at least one line
 * @throws BertEdgeError `data_missing`; `data_invalid` for a broken line; `data_unsuitable` for a line that does not fit the model.
 *   The message names the line
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
