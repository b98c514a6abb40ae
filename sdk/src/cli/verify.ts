import { Command } from "commander";
import type { TargetName } from "../artifact/manifest.ts";
import type { VerifiedTarget, VerifyReport } from "../compile/commands/verify.ts";
import { printJson, printNote, printResult, table } from "./output.ts";
import { ReportedFailure } from "./reported-failure.ts";
import { stageLog } from "./stage-log.ts";

interface Options {
  sts?: string;
  labelled?: string;
  json?: true;
}

export const verifyCommand = new Command("verify")
  .description("run every target of an artifact, compare their vectors, and score them on your data")
  .argument("<artifact>", "artifact folder")
  .option("--sts <file>", "scored sentence pairs, like STS-B's sts-test.csv")
  .option("--labelled <file>", "lines of text, tab, label, for classifiers")
  .option("--json", "print the report as JSON")
  .action(async (folder: string, { json, ...files }: Options) => {
    const { verify } = await import("../compile/commands/verify.ts");
    using log = stageLog();
    const report = await verify({ artifact: folder, ...files, onProgress: log.progress });
    log.done();
    if (json) printJson(report);
    else printResult(describe(report));
    const refused = entriesOf(report).filter(([, { failure }]) => failure !== undefined);
    for (const [name, { failure }] of refused) {
      printNote(`${name} differs too much from the most precise target: ${failure}.`);
    }
    if (refused.length > 0) throw new ReportedFailure();
  });

const entriesOf = (report: VerifyReport) => Object.entries(report) as [TargetName, VerifiedTarget][];

function describe(report: VerifyReport): string {
  const rows = entriesOf(report).map(([name, { engine, precision, recorded, agreement, task }]) => [
    name,
    engine,
    precision,
    recorded.meanCosine.toFixed(5),
    agreement?.meanCosine.toFixed(5) ?? "not compared",
    agreement?.minCosine.toFixed(5) ?? "",
    task ? `${task.metric} ${task.score.toFixed(2)}` : "",
  ]);
  return table(["target", "engine", "precision", "with fp32", "agreement", "worst", "task"], rows);
}
