import { wrapped } from "../wrapped.ts";
import type { CheckReport } from "./check-deployment.ts";
import type { Finding, Level } from "./finding.ts";

const COLUMNS = 100;
const signs: Readonly<Record<Level, string>> = { ok: "✓", note: "·", broken: "✗" };

/** Describes a finding in a few lines. */
export const findingLines = ({ check, level, where, what, fix }: Finding): string[] => [
  ...wrapped(`${signs[level]} ${check}, ${where}: ${what}`, COLUMNS, 3),
  ...(fix === undefined ? [] : wrapped(`  fix: ${fix}`, COLUMNS, 5)),
];

/** Describes the result of a check in a line. */
export function checkSummary({ url, model, ok, findings }: CheckReport): string {
  const broken = findings.filter(({ level }) => level === "broken").length;
  return ok ? `${url} serves ${model} as it should.` : `${url}: ${broken} of ${findings.length} findings are broken.`;
}
