/**
 * Measures models as clients see them: through HTTP, at the edge in workerd and in the region.
 *
 *     npm run eval -- <sts|search|sentiment> [--json]
 *     npm run eval -- heads [--json] [--trained <folder>] [head …]
 *
 * `heads` compares the answers with those of transformers, for which it makes a virtual environment unless the variable PYTHON
 * names an interpreter. `--trained` is the folder that bench/heads/train_heads.py wrote. The data sets are read from ../shared.
 * Without them, a task is skipped. The exit code is 1 if a result is not as expected.
 */
import { parseArgs } from "node:util";
import { printJson, printNote, printResult, table } from "#sdk/cli/output.ts";
import { headCases } from "./eval/heads/head-cases.ts";
import { comparedHeads, type HeadsReport, isRight } from "./eval/heads.ts";
import { benchmarks, type ScoreReport, scored } from "./eval/scores.ts";
import { DataMissing } from "./eval/shared-file.ts";

interface Report {
  readonly ok: boolean;
}

interface Evaluation<R extends Report> {
  readonly run: () => Promise<R>;
  readonly print: (report: R) => string;
}

const evaluation = <R extends Report>(each: Evaluation<R>) => ({
  async reported(): Promise<{ report: R; text: string }> {
    const report = await each.run();
    return { report, text: each.print(report) };
  },
});

function scoresTable({ model, metric, data, decimals, expected, within, scores }: ScoreReport): string {
  const row = ({ tier, score }: ScoreReport["scores"][number]) => [
    ...[tier, score.toFixed(decimals), `${expected} ± ${within}`],
    Math.abs(score - expected) <= within ? "yes" : "no",
  ];
  return `${model}, ${data}\n${table(["tier", metric, "expected", "met"], scores.map(row))}`;
}

const scoreOf = (name: keyof typeof benchmarks) =>
  evaluation({ run: () => scored(benchmarks[name]), print: scoresTable });

function headsTable({ transformers, heads }: HeadsReport): string {
  const rows = heads.map((head) => [
    `${head.head}${head.trained ? " (trained)" : ""}`,
    `${head.float32.equal} of ${head.float32.texts}`,
    head.float32.largestDifference.toExponential(1),
    head.noise.toFixed(3),
    ...(head.edge
      ? [`${head.edge.equal} of ${head.edge.beyondNoise}`, `${head.edge.equalOfAll} of ${head.edge.choices}`]
      : ["not served", "not served"]),
    isRight(head) ? "yes" : "no",
  ]);
  const columns = ["head", "float32", "difference", "noise", "edge, beyond noise", "edge, all", "met"];
  return `transformers ${transformers}\n${table(columns, rows)}`;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean" }, trained: { type: "string" } },
});
const [task = "", ...only] = positionals;

const evaluations = {
  sts: scoreOf("sts"),
  search: scoreOf("search"),
  sentiment: scoreOf("sentiment"),
  heads: evaluation({ run: () => comparedHeads(values.trained, only), print: headsTable }),
};

const parts = task === "heads" ? Object.keys(headCases) : [];
if (!Object.hasOwn(evaluations, task) || only.some((head) => !parts.includes(head))) {
  printNote(`usage: npm run eval -- <${Object.keys(evaluations).join("|")}> [--json]`);
  printNote(`       npm run eval -- heads [--json] [--trained <folder>] [${Object.keys(headCases).join("|")}] …`);
  process.exit(2);
}
try {
  const { report, text } = await evaluations[task as keyof typeof evaluations].reported();
  if (values.json) printJson({ task, ...report });
  else printResult(text);
  process.exitCode = report.ok ? 0 : 1;
} catch (error) {
  if (!(error instanceof DataMissing)) throw error;
  if (values.json) printJson({ task, skipped: error.message });
  else printResult(`Skipped ${task}: ${error.message}`);
}
