import { Command } from "commander";
import { BertEdgeError } from "../artifact/error.ts";
import type { InspectReport } from "../compile/commands/inspect.ts";
import { hubModel } from "../storage/hub-model.ts";
import { keyFileOption, optionalApiKey } from "./api-key.ts";
import { inspectReport } from "./inspect-report.ts";
import { printError, printJson, printResult } from "./output.ts";
import { ReportedFailure } from "./reported-failure.ts";
import { stageLog } from "./stage-log.ts";

export const inspectCommand = new Command("inspect")
  .description(
    "print a model's graph before and after fusion, what the targets of an artifact run, or what a deployment serves",
  )
  .argument(
    "<model>",
    "an .onnx file, a Hugging Face model folder, an artifact folder, a model of the Hugging Face Hub (org/name or org/name@revision), or the URL of a deployment",
  )
  .option(...keyFileOption)
  .option("--json", "print the report as JSON")
  .action(async (model: string, { json, keyFile }: { json?: true; keyFile?: string }) => {
    if (/^https?:\/\//i.test(model) && hubModel(model) === undefined) {
      const { deploymentReport, inspectDeployment } = await import("./inspect-deployment.ts");
      const deployment = await inspectDeployment(model, { key: optionalApiKey(keyFile), keyFile });
      return json ? printJson(deployment) : printResult(deploymentReport(deployment));
    }
    const { inspect } = await import("../compile/commands/inspect.ts");
    using log = stageLog();
    const report: InspectReport = await inspect({ model, onProgress: log.progress });
    log.done();
    if (json) printJson(report);
    else printResult(inspectReport(report));
    if (report.kind !== "refused") return;
    const { code, message, hint } = report.refusal;
    printError(new BertEdgeError(code, message, { hint }));
    throw new ReportedFailure();
  });
