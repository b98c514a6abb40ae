import { readFileSync } from "node:fs";

/** A fenced block of a Markdown file: ```` ```ts no-run ````. */
export interface Fence {
  /** File and line, for messages. */
  readonly place: string;
  readonly language: string;
  /** `no-run`: the example is checked, but not run. */
  readonly attributes: readonly string[];
  readonly code: string;
}

/** Lists the fenced blocks of a Markdown file, in order. */
export function fencesOf(path: string): Fence[] {
  const text = readFileSync(path, "utf8");
  return [...text.matchAll(/^```(\w+)?([^\n]*)\n([\s\S]*?)^```$/gm)].map(
    ({ index, 1: language = "", 2: rest = "", 3: code = "" }) => ({
      place: `${path}:${text.slice(0, index).split("\n").length}`,
      language,
      attributes: rest.split(" ").filter(Boolean),
      code,
    }),
  );
}
