import { Command } from "commander";
import type { OptimizeReport } from "../compile/commands/optimize.ts";
import { type AcceptedKeys, acceptedLine, acceptKeyOption } from "./options.ts";
import { printJson, printNote, printResult, ReportedFailure } from "./output.ts";
import { stageLog } from "./stage-log.ts";

interface Options extends AcceptedKeys {
  allowPartial?: boolean;
  parity: boolean;
  json?: true;
}

export const optimizeCommand = new Command("optimize")
  .description("fuse the operators of a model, check the result, and list what could not be fused")
  .argument(
    "<model>",
    "an .onnx file, with its external data in the same folder; a Hugging Face model folder; or a model of the Hugging Face Hub: org/name or org/name@revision",
  )
  .argument("<out.onnx>", "file to write")
  .option("--allow-partial", "write the result even when something could not be fused")
  .addOption(acceptKeyOption())
  .option("--no-parity", "skip the comparison of the original with the result")
  .option("--json", "print the report as JSON")
  .action(
    async (source: string, out: string, { json, allowPartial = false, parity, acceptKey: acceptKeys }: Options) => {
      const { optimize } = await import("../compile/commands/optimize.ts");
      using log = stageLog();
      const report = await optimize({
        ...{ model: source, out, allowPartial, acceptKeys },
        ...{ checkParity: parity, onProgress: log.progress },
      });
      log.done();
      if (json) printJson(report);
      else printResult(describe(report));
      for (const warning of report.warnings) printNote(`warning: ${warning}`);
      for (const { pattern, node, why } of report.reasons) {
        printNote(`not fused: ${pattern}${node && ` at ${node}`}: ${why}`);
      }
      for (const { pattern, nodes, why } of report.excused) {
        printNote(
          `kept: ${nodes.length} × ${pattern}, first at ${nodes[0]}: onnxruntime has no operator for it: ${why}`,
        );
      }
      if (report.complete || allowPartial) return;
      printNote(
        `${out} was not written because not everything could be fused. Use --allow-partial to write it anyway.`,
      );
      throw new ReportedFailure();
    },
  );

function describe({ acceptedKeys, nodes, fused, parity, seconds, peakRssMB }: OptimizeReport): string {
  const counts = Object.entries(fused).map(([name, count]) => `${count} ${name}`);
  const agreement = parity
    ? `largest difference ${parity.maxAbs.toExponential(1)}, cosine ${parity.cosine.toFixed(8)} over ${parity.cases} batches`
    : "not compared";
  return [
    `${nodes.before} → ${nodes.after} nodes: ${counts.join(", ") || "nothing fused"}`,
    agreement,
    ...acceptedLine(acceptedKeys),
    `${seconds.toFixed(2)} s, ${peakRssMB.toFixed(0)} MB`,
  ].join("\n");
}
