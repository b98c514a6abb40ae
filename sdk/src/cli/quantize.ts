import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import type { QuantizeReport } from "../compile/commands/quantize.ts";
import type { QuantizeMode } from "../compile/stages/quantize.ts";
import { textLines } from "./options.ts";
import { printJson, printResult, stageLog } from "./output.ts";

interface Options {
  mode: QuantizeMode;
  calibration?: string[];
  tokenizer?: string;
  table: "int8" | "int4";
  feedForward?: "int4";
  parity: boolean;
  json?: true;
}

const modes = ["int8-dynamic", "int8-blocks", "int8-static", "fp16"] as const satisfies readonly QuantizeMode[];

export const quantizeCommand = new Command("quantize")
  .description("fuse and quantize a model, and refuse when its answers change too much")
  .argument("<model>", "an .onnx file, with its external data beside it, or a Hugging Face model folder")
  .argument("<out.onnx>", "file to write")
  .addOption(new Option("--mode <mode>", "int8-static makes QuantizeLinear pairs").choices(modes).makeOptionMandatory())
  .option(
    "--tokenizer <folder>",
    "folder of tokenizer.json (default: the model, if it is a folder); observes activations and compares on texts",
  )
  .option("--calibration <lines>", "text file to observe activations on (default: our lines)", textLines)
  .addOption(new Option("--table <bits>", "word table").choices(["int8", "int4"]).default("int8"))
  .addOption(new Option("--feed-forward <bits>", "weights of the feed-forward layers").choices(["int4"]))
  .option("--no-parity", "do not run original and result to compare them")
  .option("--json", "print the report as JSON")
  .action(async (source: string, out: string, options: Options, command: Command) => {
    const { mode, calibration, tokenizer, json } = options;
    if (calibration && tokenizer === undefined && !existsSync(join(source, "tokenizer.json")))
      command.error("error: --calibration needs --tokenizer <folder>");
    const isInt8 = mode === "int8-dynamic" || mode === "int8-blocks";
    if (!isInt8 && (options.table === "int4" || options.feedForward)) {
      command.error(`error: --table and --feed-forward are of no use with --mode ${mode}`);
    }
    const { quantize } = await import("../compile/commands/quantize.ts");
    const log = stageLog();
    const report = await quantize({
      model: source,
      out,
      mode,
      ...(tokenizer !== undefined && { tokenizer }),
      ...(calibration && { calibration }),
      tableBits: options.table === "int4" ? 4 : 8,
      ...(options.feedForward && { feedForwardBits: 4 }),
      checkParity: options.parity,
      onProgress: log.progress,
    });
    log.done();
    if (json) printJson(report);
    else printResult(describe(report));
  });

function describe({ mode, nodes, bytes, ranges, kept, parity, seconds, peakRssMB }: QuantizeReport): string {
  const megabytes = (count: number) => `${(count / 1e6).toFixed(1)} MB`;
  const agreement = parity
    ? `cosine ${parity.meanCosine.toFixed(5)}, at worst ${parity.minCosine.toFixed(5)} over ${parity.cases} texts`
    : "not compared";
  return [
    `${mode}${ranges ? ` (ranges by ${ranges})` : ""}: ${megabytes(bytes.before)} → ${megabytes(bytes.after)}, ${nodes.before} → ${nodes.after} nodes`,
    agreement,
    ...kept.map((layer) => `${layer} stays in a higher precision`),
    `${seconds.toFixed(2)} s, ${peakRssMB.toFixed(0)} MB`,
  ].join("\n");
}
