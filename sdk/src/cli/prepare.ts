import { Command, Option } from "commander";
import { type Manifest, type Target, type TargetName, targetNames } from "../artifact/manifest.ts";
import type { PrepareReport } from "../compile/commands/prepare.ts";
import { listOf, share, textLines } from "./options.ts";
import { printJson, printResult, table } from "./output.ts";
import { passedOver } from "./passed-over.ts";
import { stageLog } from "./stage-log.ts";

interface Options {
  out: string;
  name?: string;
  targets: TargetName[];
  calibration?: string[];
  sts?: string;
  labelled?: string;
  table: "int8" | "int4";
  minCosine?: number;
  cache: boolean;
  json?: true;
}

export const prepareCommand = new Command("prepare")
  .description("make a Hugging Face model small and fast, check its accuracy, and write what servers load: an artifact")
  .argument(
    "<model>",
    "folder with config.json, tokenizer.json and model.safetensors or model.onnx; an .onnx file in such a folder; or a model of the Hugging Face Hub, such as sentence-transformers/all-MiniLM-L6-v2 or org/name@revision",
  )
  .requiredOption("--out <dir>", "folder for the artifact; replaces an artifact that is there")
  .option("--name <name>", "the model's name in keys, URLs and headers (default: the model folder's name)")
  .option(
    "--targets <list>",
    `comma-separated: ${targetNames.join(", ")}; without a region, edge is enough`,
    listOf(targetNames),
    [...targetNames],
  )
  .option(
    "--calibration <texts>",
    "text file, one text per line, to observe activations on (default: texts of the package)",
    textLines,
  )
  .option(
    "--sts <file>",
    "scored sentence pairs, like STS-B's sts-test.csv; a model that loses 0.5 points on them is refused",
  )
  .option(
    "--labelled <file>",
    "lines of text, tab, label, for classifiers; a model that loses 0.5 points on them is refused",
  )
  .addOption(
    new Option("--table <bits>", "bits of the token embedding table in int8 targets")
      .choices(["int8", "int4"])
      .default("int8"),
  )
  .option(
    "--min-cosine <number>",
    "minimum mean cosine with float32; raises the default limits (int8 0.99, fp16 0.9999)",
    share,
  )
  .option("--no-cache", "compute everything again, and keep nothing for later runs")
  .option("--json", "print the report as JSON")
  .action(async (folder: string, { json, table: bits, cache, ...options }: Options) => {
    const { prepare } = await import("../compile/commands/prepare.ts");
    const { stageCacheFolder } = await import("../compile/stages/stage-cache.ts");
    const log = stageLog();
    const report = await prepare({
      model: folder,
      ...options,
      tableBits: bits === "int4" ? 4 : 8,
      cache: cache ? stageCacheFolder() : undefined,
      onProgress: log.progress,
    });
    log.done();
    if (json) printJson(report);
    else printResult(describe(report));
  });

function describe(report: PrepareReport): string {
  const { manifest, measurements } = report;
  const targets = Object.entries(manifest.targets) as [TargetName, Target][];
  const rows = targets.map(([name, target]) => {
    const { engine, precision, model, parity, task } = target;
    const memory = measurements[name]?.memory;
    return [
      name,
      engine,
      precision,
      `${((manifest.files[model]?.size ?? 0) / 1e6).toFixed(1)} MB`,
      parity.meanCosine.toFixed(5),
      parity.minCosine.toFixed(5),
      task ? `${task.metric} ${task.score.toFixed(2)} of ${task.fp32.toFixed(2)}` : "",
      memory ? `${(memory.peak / 2 ** 20).toFixed(0)} of ${memory.limit / 2 ** 20} MiB${memory.fits ? "" : " ✗"}` : "",
    ];
  });
  const heading = ["target", "engine", "precision", "size", "cosine", "worst", "task", "memory"];
  const kept = targets.flatMap(([name, target]) =>
    (target.kept ?? []).map((layer) => `${name}: ${layer} stays in a higher precision`),
  );
  const summary = `${manifest.name}: ${computes(manifest)}, ${manifest.maxTokens} tokens`;
  const tokenizer =
    manifest.tokenizer.kind === "json"
      ? [
          "This tokenizer has no packed form: tokenizer.json is shipped instead (slower cold start, up to 143 MB of memory).",
        ]
      : [];
  const offline = report.source?.isOffline ? " (the Hub could not be asked: this is the last known commit)" : "";
  const source = report.source ? [`downloaded: ${report.source.name}@${report.source.commit}${offline}`] : [];
  return [summary, ...source, table(heading, rows), ...kept, ...passedOver(report), ...tokenizer].join("\n");
}

const computes = (manifest: Manifest): string =>
  manifest.task === "embed"
    ? `${manifest.dimensions} dimensions, ${manifest.pooling} pooling`
    : `classifier of ${manifest.labels.join(", ")}`;
