import { Command, InvalidArgumentError, Option } from "commander";
import type { RecordCounts } from "../../bulk/record-counts.ts";
import { chosenEngine, type EngineName, engineOption, positiveInteger } from "../options.ts";
import { printJson, printResult } from "../output.ts";
import { stageLog } from "../stage-log.ts";
import type { BatchReport } from "./run-batch.ts";

interface Options {
  model?: string;
  engine?: EngineName;
  threads: number;
  format: "float" | "base64";
  truncate?: true;
  restart?: true;
  json?: true;
}

export const batchCommand = new Command("batch")
  .description("embed the records of a JSONL file; a second run continues where the first one was stopped")
  .argument("<in>", 'file with lines {"id"?, "text"} or "text", or - for stdin')
  .argument("<out>", "file for lines with the line number, id and embedding", outputPath)
  .option("--model <artifact>", "artifact folder (default: the project's only model in models/)")
  .addOption(engineOption())
  .option(
    "--threads <n>",
    "CPU threads of the engines wasm and ort-node; those of wasm have a copy of the model each",
    positiveInteger,
    1,
  )
  .addOption(
    new Option("--format <format>", "embeddings as lists of numbers, or as base64 of little-endian float32")
      .choices(["float", "base64"])
      .default("float"),
  )
  .option("--truncate", "cut texts that are too long (default: set them aside)")
  .option("--restart", "delete the results of earlier runs, and begin again")
  .option("--json", "print the report as JSON")
  .addHelpText(
    "after",
    "\nRecords without an embedding are in <out>.rejected.jsonl, with their line and the reason. <out>.journal.json says how " +
      "far the job is. From stdin, a job continues if the same bytes come again.",
  )
  .action(async (input: string, out: string, { model: folder, engine: wished, threads, json, ...options }: Options) => {
    const { assertWritable } = await import("../../compile/files/output-file.ts");
    const { jobFiles } = await import("./job-files.ts");
    for (const file of jobFiles(out)) await assertWritable(file);
    const { inputFile } = await import("./input-file.ts");
    const { name: inputName, size, pieces } = inputFile(input, out);
    const { engineOnThisMachine } = await import("../../local/engines.ts");
    const { wholeModel } = await import("../../runtime/start-model.ts");
    const { embedCall } = await import("../../runtime/tasks/embed.ts");
    const { runBatch } = await import("./run-batch.ts");
    using log = stageLog();
    const artifact = await openModel(folder, log.progress);
    log.done();
    const engine = await engineOnThisMachine(chosenEngine(artifact, wished), threads);
    await using model = await wholeModel(artifact, engine);
    const { name, maxTokens } = model.manifest;
    const report = await runBatch({
      input: pieces(),
      inputName,
      out,
      model: {
        name,
        maxTokens,
        countTokens: (text) => model.tokenizer.encode(text, maxTokens).tokens,
        embed: (texts) => model.call(embedCall(texts, { truncate: true })),
      },
      settings: {
        model: `${name}@${model.version}`,
        engine: `${model.target} on ${model.provider}`,
        format: options.format,
        truncate: options.truncate ?? false,
      },
      restart: options.restart ?? false,
      onProgress: progressOf(`embed ${inputName}`, size, log.progress),
    });
    log.done();
    if (json) printJson(report);
    else printResult(described(report));
  });

function outputPath(value: string): string {
  if (value !== "-") return value;
  throw new InvalidArgumentError("The results need a file: a later run continues it.");
}

/** Opens an artifact folder. Without a folder, prepares or opens the project's model. */
async function openModel(folder: string | undefined, onProgress: ReturnType<typeof stageLog>["progress"]) {
  const { openFolder } = await import("../../storage/folder-artifact.ts");
  if (folder !== undefined) return openFolder(folder);
  const root = process.cwd();
  const { preparedArtifact, projectModel } = await import("../dev/prepared.ts");
  return preparedArtifact({ root, folder: projectModel(root), targets: ["edge"], onProgress });
}

/** Shows the share of the input that is done, and the rate. Records of earlier runs count for the share, but not for the rate. */
function progressOf(message: string, total: number | undefined, progress: ReturnType<typeof stageLog>["progress"]) {
  let first: { bytes: number; records: number; at: number } | undefined;
  return (bytes: number, { records }: RecordCounts): void => {
    first ??= { bytes, records, at: performance.now() };
    const seconds = (performance.now() - first.at) / 1000;
    const rate = seconds > 0 ? `, ${Math.round((records - first.records) / seconds)}/s` : "";
    const shareOf = (done: number) => (total ? Math.min(done / total, 1) : undefined);
    progress({
      message,
      fraction: shareOf(bytes),
      startFraction: shareOf(first.bytes),
      detail: `${records} records${rate}`,
    });
  };
}

function described({ out, rejectedFile, model, counts, resumed }: BatchReport): string {
  const { embedded, truncated, rejected, records } = counts;
  const before = resumed > 0 ? `, ${resumed} of them in an earlier run` : "";
  return [
    `${out}: ${embedded} of ${records} records embedded with ${model}${before}.`,
    ...(truncated > 0 ? [`Texts that were cut: ${truncated}.`] : []),
    ...(rejectedFile ? [`Set aside: ${rejected}. The reasons are in ${rejectedFile}.`] : []),
  ].join("\n");
}
