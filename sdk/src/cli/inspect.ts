import { Command } from "commander";
import type { InspectReport } from "../compile/commands/inspect.ts";
import { inspectReport } from "./inspect-report.ts";
import { printJson, printResult } from "./output.ts";
import { stageLog } from "./stage-log.ts";

export const inspectCommand = new Command("inspect")
  .description("print a model's graph before and after fusion, or what the targets of an artifact run")
  .argument(
    "<model>",
    "an .onnx file, a Hugging Face model folder, an artifact folder, or a model of the Hugging Face Hub: org/name or org/name@revision",
  )
  .option("--json", "print the report as JSON")
  .action(async (model: string, { json }: { json?: true }) => {
    const { inspect } = await import("../compile/commands/inspect.ts");
    const log = stageLog();
    const report: InspectReport = await inspect({ model, onProgress: log.progress });
    log.done();
    if (json) printJson(report);
    else printResult(inspectReport(report));
  });
