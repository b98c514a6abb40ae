import { Command, InvalidArgumentError } from "commander";
import { keyFileOption, readApiKey } from "../api-key.ts";
import { findingLines } from "../finding.ts";
import { envOption, goldenMinOption, goldenOption, positiveInteger } from "../options.ts";
import { printJson, printNote, printResult, ReportedFailure } from "../output.ts";
import type { CheckReport } from "./check-deployment.ts";

interface Options {
  model: string;
  keyFile?: string;
  timeout: number;
  env?: string;
  golden?: string;
  goldenMin?: number;
  json?: true;
}

export const checkCommand = new Command("check")
  .description("prove a deployment: keys, model, vectors on every tier, region, clock, CPU limit, times")
  .argument("[url]", "URL of the deployment (default: the one that `deploy` kept for the environment)", deploymentUrl)
  .requiredOption("--model <artifact>", "folder of the artifact that the deployment should serve")
  .option(...envOption)
  .option(...keyFileOption)
  .option("--timeout <ms>", "timeout of each request", positiveInteger, 30_000)
  .addOption(goldenOption())
  .addOption(goldenMinOption("what each tier must reach for golden texts"))
  .option("--json", "print the report as JSON")
  .addHelpText("after", "\nExits with 1 if something is broken. It changes nothing.")
  .action(
    async (
      given: string | undefined,
      { model, env, keyFile, timeout: timeoutMs, golden, goldenMin, json }: Options,
    ) => {
      const key = readApiKey(keyFile);
      const { readExpected } = await import("./read-expected.ts");
      const { checkDeployment } = await import("./check-deployment.ts");
      const expected = await readExpected(model, { golden, goldenMin });
      const { environmentToCheck } = await import("./check-environment.ts");
      // A URL alone can be checked anywhere, also outside of a project.
      const { url, findings: known } =
        given !== undefined && env === undefined
          ? { url: given, findings: [] }
          : await environmentToCheck(process.cwd(), env, { url: given, model: expected.manifest.name });
      const report = await checkDeployment({
        url,
        key,
        timeoutMs,
        ...{ expected, known },
        onFinding: (finding) => printNote(...findingLines(finding, process.stderr)),
      });
      if (json) printJson(report);
      else printResult(checkSummary(report));
      if (!report.ok) throw new ReportedFailure();
    },
  );

function deploymentUrl(value: string): string {
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value;
  throw new InvalidArgumentError(`${value} is not a URL, such as https://bert.example.workers.dev`);
}

/** Describes the result of a check in a line. */
function checkSummary({ url, model, ok, findings }: CheckReport): string {
  const broken = findings.filter(({ level }) => level === "broken").length;
  return ok ? `${url} serves ${model} as it should.` : `${url}: ${broken} of ${findings.length} findings are broken.`;
}
