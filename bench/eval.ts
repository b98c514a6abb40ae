/**
 * Measures models as clients see them: through HTTP, at the edge in workerd and in the region.
 *
 *     npm run eval -- <sts|search|sentiment>
 *     npm run eval -- heads [--trained <folder>] [head …]
 *
 * `heads` compares the answers with those of transformers, for which it makes a virtual environment unless the variable PYTHON
 * names an interpreter. `--trained` is the folder that bench/heads/train_heads.py wrote. The data sets are read from ../shared.
 * Without them, a task is skipped. `--short` makes a model and data, and only compares the tiers with float32. The exit code is 1
 * if a result is not as expected.
 */
import { table } from "#sdk/cli/output.ts";
import { command, namesIn, type Report, WrongUsage } from "./command.ts";
import { headCases } from "./eval/heads/head-cases.ts";
import { comparedHeads, type HeadsReport, isRight } from "./eval/heads.ts";
import { benchmarks, isExpected, type ScoreReport, scored } from "./eval/scores.ts";
import { DataMissing } from "./eval/shared-file.ts";
import { figuresOf } from "./figures.ts";

const scores = Object.keys(benchmarks);
const heads = Object.keys(headCases);

await command(
  {
    usage: [
      `npm run eval -- <${scores.join("|")}>`,
      `       npm run eval -- heads [--trained <folder>] [${heads.join("|")}] …`,
      "      ",
    ].join("\n"),
    options: { trained: { type: "string" } },
    allowPositionals: true,
  },
  async ({ values: { short, trained }, positionals: [task = "", ...only], folder }) => {
    const isHeads = task === "heads";
    if (!isHeads && !scores.includes(task)) throw new WrongUsage(`There is no task "${task}".`);
    if (isHeads && short) throw new WrongUsage("heads has no short form, because it needs transformers.");
    namesIn("heads", only.join(",") || undefined, isHeads ? heads : []);
    try {
      const report = isHeads
        ? headsReport(await comparedHeads(trained, only))
        : scoreReport(await scored(benchmarks[task as keyof typeof benchmarks], short ? folder : undefined));
      return { ...report, details: { task, ...report.details } };
    } catch (error) {
      if (!(error instanceof DataMissing)) throw error;
      return { figures: [], text: `Skipped ${task}: ${error.message}`, details: { task, skipped: error.message } };
    }
  },
);

function scoreReport(report: ScoreReport): Report {
  const { model, metric, unit, data, decimals, expected, within, scores, ok } = report;
  const rows = scores.map((each) => [
    ...[each.tier, each.score.toFixed(decimals), expected === undefined ? "–" : `${expected} ± ${within}`],
    isExpected(each, report) ? "yes" : "no",
  ]);
  return {
    figures: scores.flatMap(({ tier, score, meanCosine }) =>
      figuresOf(tier, {
        [metric]: [unit === "correlation" ? score / 100 : score, unit],
        "mean cosine with float32": [meanCosine, "agreement"],
      }),
    ),
    text: `${model}, ${data}\n${table(["tier", metric, "expected", "met"], rows)}`,
    details: report,
    ok,
  };
}

function headsReport(report: HeadsReport): Report {
  const { transformers, heads, ok } = report;
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
  return {
    figures: heads.flatMap(({ head, float32 }) => figuresOf(head, { texts: [float32.texts, "count"] })),
    text: `transformers ${transformers}\n${table(columns, rows)}`,
    details: report,
    ok,
  };
}
