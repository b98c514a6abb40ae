/**
 * Measures routing under load: edge in workerd, region in Node, requests from a process of their own:
 *
 *     npm run bench -- routing [--only <part,part …>] [--quick] [--seconds 3] [--rounds 3] [--seed 1]
 *         [--points <part of a name of the matrix,part …>] [--model models/default] [--against <bundle of an older Worker>] [--json]
 *
 * Requests reach the Worker's own socket, without wrangler's proxy. Where `taskset` exists, each tier has CPU cores of its
 * own. Latency counts from the time at which a request was to be sent. Each check prints what is asked and what was measured.
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { printError, printJson, printNote, printResult } from "#sdk/cli/output.ts";
import { stageLog } from "#sdk/cli/stage-log.ts";
import { openContext } from "./routing/context.ts";
import { separateCores } from "./routing/cores.ts";
import { parts } from "./routing/parts.ts";
import { describeReport, type Report } from "./routing/report.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    seconds: { type: "string", default: "3" },
    rounds: { type: "string" },
    seed: { type: "string", default: "1" },
    points: { type: "string", default: "" },
    model: { type: "string", default: "models/default" },
    against: { type: "string" },
    json: { type: "boolean" },
  },
});
const { quick, model, against, json } = values;
const points = values.points.split(",");
const [seconds, rounds, seed] = [values.seconds, values.rounds ?? (quick ? "1" : "3"), values.seed].map(Number);
const only = values.only?.split(",") ?? Object.keys(parts);
if (!(seconds && rounds && seed) || only.some((name) => !parts[name])) {
  printNote("usage: npm run bench -- routing [--only <part,part …>] [--quick] [--seconds n] [--rounds n] [--seed n]");
  printNote(
    "         [--points <part of a name of the matrix,part …>] [--model <folder>] [--against <bundle of an older Worker>] [--json]",
  );
  for (const [name, { what }] of Object.entries(parts)) printNote(`  ${name.padEnd(10)} ${what}`);
  process.exit(2);
}

const log = stageLog();
try {
  const context = await openContext({ quick, points, model, against, seconds, rounds, seed }, log.stage);
  try {
    const reports: Record<string, Report> = {};
    for (const [name, part] of Object.entries(parts).filter(([name]) => only.includes(name))) {
      log.stage(name);
      reports[name] = await part.run(context);
    }
    log.done();
    const machine = { cpu: cpus()[0]?.model, cores: cpus().length, separateCores, load: loadavg() };
    if (json) printJson({ model, machine, parts: reports });
    else {
      const shared = separateCores ? "" : ", which the tiers share";
      printResult(`${model} on ${machine.cores} × ${machine.cpu}${shared}, load ${machine.load[0]}\n`);
      for (const [name, report] of Object.entries(reports)) printResult(describeReport(name, report));
    }
  } finally {
    await context.close();
  }
} catch (error) {
  printError(error);
  process.exitCode = 1;
}
