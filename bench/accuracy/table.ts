import type { Result } from "./measure-row.ts";
import { type Row, sections } from "./rows.ts";

export type Results = Readonly<Record<string, Result>>;

/** Writes docs/accuracy.md from the measurements. */
export function document(results: Results, names: { model: string; classifier: string }): string {
  const measured = (key: keyof Result) => Object.values(results).some((result) => result[key] !== undefined);
  const data = [
    `STS-B test with ${names.model}: Spearman × 100 of the cosines, and the cosine between each sentence vector and its float32 vector, over 2,552 sentences`,
    ...(measured("ndcg") ? [`SciFact test with ${names.model}: nDCG@10`] : []),
    ...(measured("accuracy") ? [`SST-2 dev with ${names.classifier}: accuracy`] : []),
  ];
  return [
    "# Accuracy",
    "",
    "The accuracy of each precision, measured on",
    "",
    ...data.map((line) => `- ${line}.`),
    "",
    "Calibration uses the texts that come with the package; none of them is from these data sets. The data sets have their own",
    "licences and are not part of this repository. Download them, then run",
    "",
    "```sh",
    "npm run accuracy -- --model all-MiniLM-L6-v2 --sts sts-test.csv --scifact scifact/ --classifier bert-edge-mini-sst2 --labelled dev.tsv",
    "```",
    "",
    "This measures all rows and writes this page. It takes about 20 minutes on two cores, and 20 more with SciFact. To measure",
    "only some rows, add their ids, which are the keys in [accuracy.json](accuracy.json).",
    "",
    "[evaluation.md](evaluation.md) has the metrics of clients, through HTTP.",
    "",
    ...sections.flatMap(({ title, text, rows }) => [`## ${title}`, "", text, "", ...table(rows, results), ""]),
  ].join("\n");
}

interface Column {
  readonly title: string;
  readonly key: keyof Result;
  readonly format: (value: number) => string;
}

const columns: readonly Column[] = [
  { title: "STS-B", key: "sts", format: (value) => value.toFixed(2) },
  { title: "mean cosine", key: "meanCosine", format: (value) => value.toFixed(5) },
  { title: "worst", key: "minCosine", format: (value) => value.toFixed(4) },
  { title: "weights", key: "bytes", format: (value) => `${(value / 1e6).toFixed(1)} MB` },
  { title: "SciFact", key: "ndcg", format: (value) => value.toFixed(4) },
  { title: "SST-2", key: "accuracy", format: (value) => value.toFixed(2) },
];

function table(rows: readonly Row[], results: Results): string[] {
  const used = columns.filter(({ key }) => rows.some(({ id }) => results[id]?.[key] !== undefined));
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(["", ...used.map(({ title }) => title)]),
    line(["---", ...used.map(() => "---:")]),
    ...rows
      .filter(({ id }) => results[id])
      .map(({ id, title }) =>
        line([
          title,
          ...used.map(({ key, format }) =>
            results[id]?.[key] === undefined ? "" : format(results[id][key] as number),
          ),
        ]),
      ),
  ];
}
