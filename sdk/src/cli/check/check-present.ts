import type { EmbedManifest, TargetName } from "../../artifact/manifest.ts";
import {
  agreementOf,
  belowLimit,
  type ComparedLine,
  chosenLimit,
  summaryOf,
} from "../../compile/accuracy/golden/compare-lines.ts";
import { promptNameOf } from "../../compile/accuracy/golden/golden-call.ts";
import { describedLine } from "../../compile/accuracy/golden/golden-remarks.ts";
import type { GoldenLine } from "../../compile/accuracy/golden/read-golden.ts";
import type { Tier } from "../../serve/contract/headers.ts";
import { cosineLimit } from "../../serve/region/compare-golden.ts";
import { type Finding, findingsOf } from "../finding.ts";
import { described, failed, isWrongAnswer, type Probe } from "./probe.ts";

/** Answers of the user's present system, from a golden file. */
export interface PresentAnswers {
  readonly file: string;
  readonly lines: readonly GoldenLine[];
  /** Minimum agreement of each line. Default: what the tier must reach for golden texts. */
  readonly minimum: number | undefined;
}

/** Checks that a tier gives the vectors of the present system, line by line. Skips lines that the tier's CPU limit refuses. */
export async function checkPresent(
  { ask }: Probe,
  manifest: EmbedManifest,
  { file, lines, minimum }: PresentAnswers,
  tier: Tier,
): Promise<Finding> {
  const { ok, note, broken } = findingsOf("golden", tier);
  const compared: ComparedLine[] = [];
  for (const line of lines) {
    const outcome = await ask([line.input as string], { tier, promptName: promptNameOf(line, manifest) });
    if (!failed(outcome)) {
      const answer = { rows: outcome.vectors as Float32Array<ArrayBuffer>[] };
      compared.push({ line, answer, ...agreementOf(line.expected, answer) });
    } else if (outcome.code !== "request_too_costly") {
      const fix = isWrongAnswer(outcome) ? "Look for proxies that change answers." : outcome.hint;
      return broken(`Line ${line.line} of ${file} gets ${described(outcome)}`, fix ?? "Check the deployment's log.");
    }
  }
  if (compared.length === 0) return note(`Its CPU limit refuses all ${lines.length} lines of ${file}.`);
  const least = tierLimit(manifest, tier);
  const limit = chosenLimit(minimum, { vectors: least, scores: least });
  const [worst, ...others] = belowLimit(compared, limit);
  const figures = {
    lines: compared.length,
    limit: limit.vectors,
    agreement: summaryOf(file, compared).worst.agreement,
  };
  if (!worst) {
    return ok(
      `${compared.length} of ${lines.length} lines of ${file} have the vectors of your present system. Worst: ${figures.agreement.toFixed(4)}.`,
      figures,
    );
  }
  return broken(
    `${others.length + 1} of ${compared.length} lines of ${file} have other vectors. Worst: ${describedLine(worst, limit)}.`,
    "Prepare the model with --golden, which finds how your present system reads it. If that system is quantized, give --golden-min.",
    figures,
  );
}

const targetsOf: Readonly<Record<Tier, readonly TargetName[]>> = {
  edge: ["edge"],
  region: ["regional-cpu", "regional-gpu"],
};

/** Returns the minimum cosine of a tier: `cosineLimit`, or what `prepare` measured for one of the tier's targets if that is lower. */
export const tierLimit = ({ targets }: Pick<EmbedManifest, "targets">, tier: Tier): number =>
  Math.min(cosineLimit({ targets }), ...targetsOf[tier].flatMap((name) => targets[name]?.parity.minCosine ?? []));
