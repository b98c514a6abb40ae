import { Command } from "commander";
import type { TargetName } from "../artifact/manifest.ts";
import type { VerifiedTarget, VerifyReport } from "../compile/commands/verify.ts";
import { goldenMinOption, goldenOption } from "./options.ts";
import { printJson, printNote, printResult, ReportedFailure, table } from "./output.ts";
import { stageLog } from "./stage-log.ts";

interface Options {
  sts?: string;
  labelled?: string;
  golden?: string;
  goldenMin?: number;
  json?: true;
}

export const verifyCommand = new Command("verify")
  .description("run every target of an artifact, compare their vectors, and score them on your data")
  .argument("<artifact>", "artifact folder")
  .option("--sts <file>", "scored sentence pairs, like STS-B's sts-test.csv")
  .option("--labelled <file>", "lines of text, tab, label, for classifiers")
  .addOption(goldenOption())
  .addOption(goldenMinOption("the worst that the target's precision may reach; 0.95 for scores"))
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
    const mismatched = entriesOf(report).filter(([, { golden }]) => golden?.failure !== undefined);
    for (const [name, { golden }] of mismatched) {
      printNote(`${name} does not give the answers of ${golden?.file}. Worst: ${golden?.failure}.`);
    }
    if (refused.length + mismatched.length > 0) throw new ReportedFailure();
  });

const entriesOf = (report: VerifyReport) => Object.entries(report) as [TargetName, VerifiedTarget][];

function describe(report: VerifyReport): string {
  const rows = entriesOf(report).map(([name, { engine, precision, recorded, agreement, task, golden }]) => [
    name,
    engine,
    precision,
    recorded.meanCosine.toFixed(5),
    agreement?.meanCosine.toFixed(5) ?? "not compared",
    agreement?.minCosine.toFixed(5) ?? "",
    task ? `${task.metric} ${task.score.toFixed(2)}` : "",
    ...(golden ? [golden.worst.agreement.toFixed(5)] : []),
  ]);
  const hasGolden = entriesOf(report).some(([, { golden }]) => golden);
  const headings = ["target", "engine", "precision", "with fp32", "agreement", "worst", "task"];
  return table([...headings, ...(hasGolden ? ["golden, worst"] : [])], rows);
}
