import type { ErrorCode } from "../artifact/error-codes.ts";
import type { InputLine } from "./line-splitter.ts";
import { parseLine } from "./parse-line.ts";

/** A text to embed, from a line of the input. */
export interface TextRecord {
  /** Number of the line, from 1. */
  readonly line: number;
  /** The caller's name for the record. */
  readonly id?: string | number;
  readonly text: string;
}

/** A line without a vector, and why it has none. */
export interface RejectedRecord {
  readonly line: number;
  readonly id?: string | number;
  readonly code: ErrorCode;
  readonly reason: string;
}

/** Fields that hold the text in the files of other tools. */
const otherNames = ["input", "inputs", "body", "content", "sentence", "texts"];

/**
 * Reads a record: a JSON object `{"id"?: string | number, "text": string}`, or a JSON string, which is the text. Other
 * fields are ignored.
 *
 * @returns the record, or why it cannot be embedded; undefined for a line of white space
 */
export function readRecord(inputLine: InputLine): TextRecord | RejectedRecord | undefined {
  const line = inputLine.number;
  const invalid = (reason: string, id?: string | number): RejectedRecord => ({
    line,
    ...(id !== undefined && { id }),
    code: "record_invalid",
    reason,
  });
  const parsed = parseLine(inputLine);
  if (!parsed) return undefined;
  if ("reason" in parsed) return invalid(parsed.reason);
  const { value } = parsed;
  if (typeof value === "string") return withText({ line, text: value });
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return invalid("The line is neither a JSON object nor a JSON string.");
  }
  const { id, text } = value as { id?: unknown; text?: unknown };
  const isId = typeof id === "string" || Number.isSafeInteger(id);
  if (id !== undefined && id !== null && !isId) {
    return invalid("`id` is neither a string nor an integer that JavaScript keeps exactly.");
  }
  const known = isId ? (id as string | number) : undefined;
  if (typeof text === "string") return withText({ line, ...(known !== undefined && { id: known }), text });
  if (text !== undefined) return invalid("`text` is not a string.", known);
  const other = otherNames.find((name) => Object.hasOwn(value, name));
  return invalid(`There is no \`text\`${other ? `, but there is \`${other}\`` : ""}.`, known);
}

function withText({ text, ...place }: TextRecord): TextRecord | RejectedRecord {
  if (text.trim() !== "") return { ...place, text };
  return { ...place, code: "input_empty", reason: "The text is empty." };
}
