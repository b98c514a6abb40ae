import { Command, Option } from "commander";
import { type Pooling, type TargetName, type TaskName, targetNames, taskNames } from "../artifact/manifest.ts";
import {
  type AcceptedKeys,
  acceptKeyOption,
  bitsOf,
  byteCount,
  goldenMinOption,
  goldenOption,
  type Integers,
  integers,
  listOf,
  share,
  textLines,
} from "./options.ts";
import { printJson, printNote, printResult } from "./output.ts";
import { nextStep, prepareReport } from "./prepare-report.ts";
import { stageLog } from "./stage-log.ts";

interface Options extends AcceptedKeys {
  out: string;
  name?: string;
  targets?: TargetName[];
  calibration?: string[];
  sts?: string;
  labelled?: string;
  golden?: string;
  goldenMin?: number;
  task?: TaskName;
  input?: "text" | "pair";
  pooling?: Pooling;
  normalize: boolean;
  table?: Integers;
  weights?: Integers;
  maxSize?: number;
  maxMemory?: number;
  pages?: true;
  regionPrecision: "int8" | "int8-mixed" | "int8-blocks";
  minCosine?: number;
  cache: boolean;
  fast?: true;
  force?: true;
  json?: true;
}

export const prepareCommand = new Command("prepare")
  .description("make a Hugging Face model small and fast, check its accuracy, and write what servers load: an artifact")
  .argument(
    "<model>",
    "folder with config.json, tokenizer.json and model.safetensors, pytorch_model.bin or model.onnx; an .onnx file in such a folder; a name that `bert-edge models` lists; or a model of the Hugging Face Hub: org/name or org/name@revision",
  )
  .requiredOption("--out <dir>", "folder for the artifact; replaces an artifact that is there")
  .option("--name <name>", "the model's name in keys, URLs and headers (default: the model folder's name)")
  .option(
    "--targets <list>",
    `comma-separated: ${targetNames.join(", ")}; without a region, edge is enough (default: all, with --fast: edge)`,
    listOf(targetNames),
  )
  .option(
    "--fast",
    "a first look: the edge target, with fewer texts and rounds. Prepare again without it before you deploy",
  )
  .option(
    "--calibration <texts>",
    "text file, one typical text per line, to observe activations and count tokens on (default: texts of the package)",
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
  .addOption(goldenOption())
  .addOption(goldenMinOption("0.9999 for vectors, 0.999 for scores"))
  .addOption(
    new Option(
      "--task <task>",
      "what the model is for (default: what its files say; models with a language-model head are sentence encoders)",
    ).choices(taskNames),
  )
  .addOption(
    new Option("--input <kind>", "what a classifier reads (default: pair for cross-encoders, else text)").choices([
      "text",
      "pair",
    ]),
  )
  .addOption(
    new Option(
      "--pooling <mode>",
      "how a sentence encoder without modules.json pools its hidden states (default: as its ONNX file does, else mean)",
    ).choices(["mean", "cls", "max", "last"] satisfies Pooling[]),
  )
  .option("--no-normalize", "vectors of a sentence encoder without modules.json keep their length")
  .addOption(acceptKeyOption())
  .addOption(
    new Option("--table <bits>", "bits of the token embedding table in int8 targets (default: int8)").choices(integers),
  )
  .addOption(
    new Option(
      "--weights <bits>",
      "bits of the other weights of the edge target: int4 makes its file smaller, and less accurate (default: int8)",
    ).choices(integers),
  )
  .addOption(
    new Option(
      "--max-size <bytes>",
      "maximum size of the edge's model file, such as 13.5MB; chooses --table and --weights, layer by layer",
    )
      .argParser(byteCount)
      .conflicts(["table", "weights"]),
  )
  .option(
    "--max-memory <bytes>",
    "maximum memory of the edge's weights, such as 70MB; if weights of 4 bits do not fit expanded, each call expands them (default: 96MiB)",
    byteCount,
  )
  .option(
    "--pages",
    "cut the vocabulary into pages although it fits: a cold start waits for frequent words only, and rare ones are read when needed",
  )
  .addOption(
    new Option(
      "--region-precision <precision>",
      "precision of regional-cpu: int8 is the fastest, and int8-blocks agrees most with the edge",
    )
      .choices(["int8", "int8-mixed", "int8-blocks"])
      .default("int8-mixed"),
  )
  .option(
    "--min-cosine <number>",
    "minimum mean cosine with float32; raises the default limits (int8 0.99, fp16 0.9999)",
    share,
  )
  .option("--force", "go on although the model is too large for a Worker")
  .option("--no-cache", "compute everything again, and keep nothing for later runs")
  .option("--json", "print the report as JSON")
  .action(
    async (folder: string, { json, table, weights, cache, normalize, acceptKey: acceptKeys, ...options }: Options) => {
      const { prepare } = await import("../compile/commands/prepare.ts");
      const { stageCacheFolder } = await import("../compile/stages/stage-cache.ts");
      using log = stageLog();
      const report = await prepare({
        model: folder,
        ...options,
        acceptKeys,
        // Without the option, modules.json decides.
        normalize: normalize ? undefined : false,
        ...(table && { tableBits: bitsOf(table) }),
        ...(weights && { weightBits: bitsOf(weights) }),
        cache: cache ? stageCacheFolder() : undefined,
        onProgress: log.progress,
      });
      log.done();
      if (json) return printJson(report);
      // A blank line after the stages.
      printNote("");
      printResult(prepareReport(report));
      const { findWranglerConfig } = await import("./wrangler/config.ts");
      const isInProject = findWranglerConfig(process.cwd()) !== undefined;
      for (const step of nextStep(report, options.out, { isInProject })) printNote(`\n${step}`);
    },
  );
