import { table } from "#sdk/cli/output.ts";

/** A figure that must reach a limit. */
export interface Check {
  readonly what: string;
  readonly asked: string;
  readonly measured: string;
  readonly holds: boolean;
}

/** Formats checks as a table. */
export const describeChecks = (checks: readonly Check[]): string =>
  table(
    ["check", "asked", "measured", ""],
    checks.map(({ what, asked, measured, holds }) => [what, asked, measured, holds ? "✓" : "✗"]),
  );
