import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import type { QuantizeReport } from "../compile/commands/quantize.ts";
import type { QuantizeMode } from "../compile/stages/quantize.ts";
import {
  type AcceptedKeys,
  acceptedLine,
  acceptKeyOption,
  bitsOf,
  type Integers,
  integers,
  textLines,
} from "./options.ts";
import { printJson, printResult } from "./output.ts";
import { stageLog } from "./stage-log.ts";

interface Options extends AcceptedKeys {
  mode: QuantizeMode;
  calibration?: string[];
  tokenizer?: string;
  table: Integers;
  feedForward?: "int4";
  parity: boolean;
  json?: true;
}

const modes = [
  "int8-dynamic",
  "int8-mixed",
  "int8-blocks",
  "int8-static",
  "fp16",
] as const satisfies readonly QuantizeMode[];

export const quantizeCommand = new Command("quantize")
  .description("fuse and quantize a model; refuse a result that is not accurate enough")
  .argument(
    "<model>",
    "an .onnx file, with its external data in the same folder; a Hugging Face model folder; or a model of the Hugging Face Hub: org/name or org/name@revision",
  )
  .argument("<out.onnx>", "file to write")
  .addOption(
    new Option("--mode <mode>", "int8-static writes QuantizeLinear/DequantizeLinear pairs")
      .choices(modes)
      .makeOptionMandatory(),
  )
  .option(
    "--tokenizer <folder>",
    "folder with tokenizer.json (default: the model folder); needed to observe and compare on texts",
  )
  .option(
    "--calibration <texts>",
    "text file, one text per line, to observe activations on (default: texts of the package)",
    textLines,
  )
  .addOption(new Option("--table <bits>", "bits of the token embedding table").choices(integers).default("int8"))
  .addOption(
    new Option("--feed-forward <bits>", "bits of the weights in feed-forward layers (default: int8)").choices(["int4"]),
  )
  .addOption(acceptKeyOption())
  .option("--no-parity", "skip the comparison of the original with the result")
  .option("--json", "print the report as JSON")
  .action(async (source: string, out: string, options: Options, command: Command) => {
    const { mode, calibration, tokenizer, json } = options;
    if (calibration && tokenizer === undefined && !existsSync(join(source, "tokenizer.json")))
      command.error("--calibration needs --tokenizer <folder>.");
    const isInt8 = mode !== "int8-static" && mode !== "fp16";
    if (!isInt8 && (options.table === "int4" || options.feedForward)) {
      command.error(`--table and --feed-forward have no effect with --mode ${mode}.`);
    }
    const { quantize } = await import("../compile/commands/quantize.ts");
    using log = stageLog();
    const report = await quantize({
      model: source,
      out,
      mode,
      acceptKeys: options.acceptKey,
      ...(tokenizer !== undefined && { tokenizer }),
      ...(calibration && { calibration }),
      tableBits: bitsOf(options.table),
      ...(options.feedForward && { feedForwardBits: 4 }),
      checkParity: options.parity,
      onProgress: log.progress,
    });
    log.done();
    if (json) printJson(report);
    else printResult(describe(report));
  });

function describe({
  acceptedKeys,
  mode,
  nodes,
  bytes,
  ranges,
  kept,
  parity,
  seconds,
  peakRssMB,
}: QuantizeReport): string {
  const megabytes = (count: number) => `${(count / 1e6).toFixed(1)} MB`;
  const agreement = parity
    ? `cosine ${parity.meanCosine.toFixed(5)}, at worst ${parity.minCosine.toFixed(5)} over ${parity.cases} texts`
    : "not compared";
  return [
    `${mode}${ranges ? ` (ranges by ${ranges})` : ""}: ${megabytes(bytes.before)} → ${megabytes(bytes.after)}, ${nodes.before} → ${nodes.after} nodes`,
    agreement,
    ...acceptedLine(acceptedKeys),
    ...kept.map((layer) => `${layer} stays in a higher precision`),
    `${seconds.toFixed(2)} s, ${peakRssMB.toFixed(0)} MB`,
  ].join("\n");
}
