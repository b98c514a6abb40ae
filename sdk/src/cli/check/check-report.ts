import type { CheckReport } from "./check-deployment.ts";

/** Describes the result of a check in a line. */
export function checkSummary({ url, model, ok, findings }: CheckReport): string {
  const broken = findings.filter(({ level }) => level === "broken").length;
  return ok ? `${url} serves ${model} as it should.` : `${url}: ${broken} of ${findings.length} findings are broken.`;
}
