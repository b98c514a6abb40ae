import { BertEdgeError } from "../artifact/error.ts";
import { colour } from "./output.ts";
import { COLUMNS, wrapped } from "./screen/on-screen.ts";

/** `ok`: proven. `note`: worth knowing, or not provable here. `broken`: does not work, or not as it should. */
type Level = "ok" | "note" | "broken";

/** One thing that `check` or `doctor` found. */
export interface Finding {
  /** Name of the part that was examined, such as `keys`. */
  readonly check: string;
  readonly level: Level;
  /** The tier, request, file or package that the finding is about. */
  readonly where: string;
  readonly what: string;
  /** Instruction that fixes the fault. Every broken finding has one. */
  readonly fix?: string;
  /** Numbers from which the finding follows: milliseconds, or cosines. */
  readonly figures?: Readonly<Record<string, number>>;
}

type Figures = Finding["figures"];

/** Makes the findings of a check. */
export function findingsOf(check: string, where: string) {
  const make =
    (level: Level) =>
    (what: string, figures?: Figures): Finding => ({ check, level, where, what, ...(figures && { figures }) });
  return {
    ok: make("ok"),
    note: make("note"),
    broken: (what: string, fix: string, figures?: Figures): Finding => ({ ...make("broken")(what, figures), fix }),
  };
}

const signs: Readonly<Record<Level, string>> = { ok: "✓", note: "·", broken: "✗" };

const colours = { ok: "green", note: "dim", broken: "red" } as const;

/** Describes a finding in a few lines, for a stream. The sign before them is coloured. */
export function findingLines(
  { check, level, where, what, fix }: Finding,
  stream: NodeJS.WriteStream,
): [text: string, sign: string] {
  const [first = "", ...others] = wrapped(`${check}, ${where}: ${what}`, COLUMNS - 2, 3);
  const fixes = fix === undefined ? [] : wrapped(`fix: ${fix}`, COLUMNS - 2, 5).map((line) => `  ${line}`);
  return [[` ${first}`, ...others, ...fixes].join("\n"), colour(colours[level], signs[level], stream)];
}

/**
 * Runs a check. An error that it throws becomes a finding, so that the other checks still run.
 *
 * @param check name of the part that is examined
 * @param where the tier, request, file or package that an error is about
 */
export async function attempt(
  check: string,
  where: string,
  examine: () => Finding | readonly Finding[] | Promise<Finding | readonly Finding[]>,
): Promise<Finding[]> {
  try {
    return [await examine()].flat();
  } catch (error) {
    const { broken } = findingsOf(check, where);
    if (error instanceof BertEdgeError)
      return [broken(error.message, error.hint ?? `npx bert-edge explain ${error.code}`)];
    const message = error instanceof Error ? error.message : String(error);
    return [
      broken(`It cannot be examined: ${message}`, "Correct what the message names. If it names nothing, report it."),
    ];
  }
}
