/** The parts of a check. Each proves something else about a deployment. */
export type CheckName =
  | "reached"
  | "keys"
  | "model"
  | "vectors"
  | "region"
  | "budget"
  | "clock"
  | "cpu-limit"
  | "times";

/**
 * `ok`: proven. `note`: worth knowing, or not provable here. `broken`: callers get wrong answers, none, or answers that they
 * should not get.
 */
export type Level = "ok" | "note" | "broken";

/** One thing that a check found. */
export interface Finding {
  readonly check: CheckName;
  readonly level: Level;
  /** The tier or the request that shows it. */
  readonly where: string;
  readonly what: string;
  /** How to fix it. Every broken finding has it. */
  readonly fix?: string;
  /** Numbers behind the finding: milliseconds, or cosines. */
  readonly figures?: Readonly<Record<string, number>>;
}

type Figures = Finding["figures"];

/** Makes the findings of a check. */
export function findingsOf(check: CheckName, where: string) {
  const make =
    (level: Level) =>
    (what: string, figures?: Figures): Finding => ({ check, level, where, what, ...(figures && { figures }) });
  return {
    ok: make("ok"),
    note: make("note"),
    broken: (what: string, fix: string, figures?: Figures): Finding => ({ ...make("broken")(what, figures), fix }),
  };
}
