import { Command } from "commander";
import { attempt, type Finding, findingLines, findingsOf } from "../finding.ts";
import { envOption } from "../options.ts";
import { printJson, printResult, ReportedFailure } from "../output.ts";
import type { WranglerConfig } from "../wrangler/config.ts";

export const doctorCommand = new Command("doctor")
  .description(
    "examine this machine, the project in this folder and its Cloudflare account, and say how to fix what is wrong",
  )
  .option(...envOption)
  .option("--offline", "do not ask Cloudflare")
  .option("--json", "print the findings as JSON")
  .addHelpText("after", "\nExits with 1 if something is broken. It changes nothing.")
  .action(async ({ env, offline = false, json }: { env?: string; offline?: boolean; json?: true }) => {
    const findings: Finding[] = [];
    const report = (found: readonly Finding[]) => {
      findings.push(...found);
      if (!json) for (const each of found) printResult(...findingLines(each, process.stdout));
    };
    const root = process.cwd();
    const { examineMachine, thisMachine } = await import("./examine-machine.ts");
    report(await attempt("machine", "this machine", async () => examineMachine(root, await thisMachine())));
    const config = await projectConfig(root, env, report);
    if (config) {
      const { examineProject } = await import("./examine-project.ts");
      report(await examineProject(root, config));
      const { accountCalls, examineAccount } = await import("./examine-account.ts");
      if (!offline) report(await examineAccount(config, () => accountCalls(root, config)));
    }
    const broken = findings.filter(({ level }) => level === "broken").length;
    if (json) printJson({ ok: broken === 0, findings });
    else printResult(broken === 0 ? "\nNothing is broken." : `\n${broken} of ${findings.length} findings are broken.`);
    if (broken > 0) throw new ReportedFailure();
  });

/** Reads the project's configuration. A folder without one is no fault: `doctor` then examines the machine alone. */
async function projectConfig(
  root: string,
  env: string | undefined,
  report: (found: readonly Finding[]) => void,
): Promise<WranglerConfig | undefined> {
  const { findWranglerConfig, readWranglerConfig } = await import("../wrangler/config.ts");
  if (findWranglerConfig(root) === undefined) {
    const { note } = findingsOf("project", "this folder");
    report([
      {
        ...note("It has no wrangler.toml or wrangler.jsonc, so only the machine was examined."),
        fix: "npx create-bert-edge my-api",
      },
    ]);
    return undefined;
  }
  let config: WranglerConfig | undefined;
  const faults = await attempt("project", "this folder", () => {
    config = readWranglerConfig(root, env);
    return [];
  });
  report(faults);
  return config;
}
