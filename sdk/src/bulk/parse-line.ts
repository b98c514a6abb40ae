import { type InputLine, MAX_LINE_BYTES } from "./line-splitter.ts";

/** The value of a line, or why it has none. */
export type ParsedLine = { readonly value: unknown } | { readonly reason: string };

/**
 * Parses a line of a JSONL file.
 *
 * @param maxBytes limit of the splitter that gave the line
 * @returns undefined for a line of white space
 */
export function parseLine({ bytes }: InputLine, maxBytes = MAX_LINE_BYTES): ParsedLine | undefined {
  if (!bytes) return { reason: `The line is longer than ${maxBytes} bytes.` };
  let content: string;
  try {
    content = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { reason: "The line is not UTF-8." };
  }
  if (content.trim() === "") return undefined;
  try {
    return { value: JSON.parse(content) };
  } catch {
    return { reason: "The line is not JSON." };
  }
}
