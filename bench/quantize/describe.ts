import { table } from "#sdk/cli/output.ts";
import type { Failure } from "../run-tool.ts";
import type { Cost } from "./make-results.ts";
import type { Score } from "./score.ts";
import type { Times } from "./time.ts";

/** Measurements of a row. */
export interface Figures {
  /** Undefined for the original model. */
  readonly cost?: Cost;
  readonly score: Score;
  readonly ms?: Times;
}

export type Line = { readonly title: string } & (Failure | Figures);

interface Column {
  readonly title: string;
  readonly cell: (figures: Figures) => string | undefined;
}

/** Formats a table of the measurements of the original model and of every row. */
export function describe(original: Figures, lines: readonly Line[]): string {
  const all: Line[] = [{ title: "float32", ...original }, ...lines];
  const used = columns(original).filter(({ cell }) => all.some((line) => "score" in line && cell(line) !== undefined));
  const rows = all.map((line) => [line.title, ...("score" in line ? used.map(({ cell }) => cell(line) ?? "") : [])]);
  const [heading, rule, ...body] = table(["", ...used.map(({ title }) => title)], rows).split("\n");
  const failures = all.map((line) => ("failure" in line ? `  ${line.failure}` : ""));
  return [heading, rule, ...body.map((row, i) => row + failures[i])].join("\n");
}

const columns = (original: Figures): Column[] => [
  { title: "time", cell: ({ cost }) => cost && `${cost.seconds.toFixed(2)} s${times(cost.secondsRatio)}` },
  { title: "memory", cell: ({ cost }) => cost && `${cost.peakRssMB.toFixed(0)} MB${times(cost.peakRssRatio)}` },
  { title: "size", cell: ({ score }) => `${(score.bytes / 1e6).toFixed(1)} MB` },
  { title: "nodes", cell: ({ score }) => `${score.nodes}` },
  { title: "mean cosine", cell: ({ score }) => score.meanCosine.toFixed(5) },
  { title: "worst", cell: ({ score }) => score.minCosine.toFixed(5) },
  { title: "STS-B", cell: ({ score }) => score.sts?.toFixed(2) },
  ...Object.entries(original.ms ?? {}).map(([tokens, float32]) => ({
    title: `${tokens} tokens`,
    cell({ ms }: Figures) {
      const own = ms?.[Number(tokens)];
      return own === undefined ? undefined : `${own.toFixed(2)} ms${times(float32 / own)}`;
    },
  })),
];

const times = (ratio: number | undefined): string => (ratio === undefined ? "" : ` ${ratio.toFixed(2)}×`.padStart(8));
