/**
 * Simulates deployments with 300 points of presence, and compares the production policy with other policies and with an
 * upper bound that no policy exceeds. The model is described in docs/routing.md:
 *
 *     npm run bench -- routing-sim [--rate 100000] [--model mini,base] [--seed 1] [--svg <file>] [--json]
 *
 * `--rate` is the number of requests per second. The long form has 1,000,000. Results depend on the options only.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { printJson, printNote, printResult } from "#sdk/cli/output.ts";
import { stageLog } from "#sdk/cli/stage-log.ts";
import { describeChecks } from "./checks.ts";
import { describeShares } from "./routing-sim/describe.ts";
import { binsOf, boundsOf, checksOf, recoveryOf, type Shares, sharesOf } from "./routing-sim/figures.ts";
import { type ModelName, models } from "./routing-sim/models.ts";
import { plot } from "./routing-sim/plot.ts";
import { type PolicyName, policies } from "./routing-sim/policies.ts";
import { runScenarios } from "./routing-sim/run-scenarios.ts";
import { type Scenario, type ScenarioResult, steadyOnly, wholeDay } from "./routing-sim/scenario.ts";

const { values } = parseArgs({
  options: {
    rate: { type: "string", default: "100000" },
    model: { type: "string", default: Object.keys(models).join(",") },
    seed: { type: "string", default: "1" },
    svg: { type: "string" },
    json: { type: "boolean" },
  },
});
const [rate, seed] = [Number(values.rate), Number(values.seed)];
const names = values.model.split(",") as ModelName[];
if (!(rate > 0 && seed > 0) || names.some((name) => !models[name])) {
  const all = Object.keys(models).join(",");
  printNote(`usage: npm run bench -- routing-sim [--rate <requests per second>] [--model <${all}>] [--seed n]`);
  printNote("         [--svg <file>] [--json]");
  process.exit(2);
}

const policyNames = Object.keys(policies) as PolicyName[];
const phasesOf = (policy: PolicyName) => (policy === "bert-edge" ? wholeDay : steadyOnly);
const scenarios: Scenario[] = policyNames.flatMap((policy) =>
  names.map((model) => ({ model, policy, rate, seed, phases: phasesOf(policy) })),
);
const log = stageLog();
const message = `${scenarios.length} simulations`;
log.progress({ message });
const results = await runScenarios(scenarios, (done) => log.progress({ message, fraction: done / scenarios.length }));
log.done();

const resultOf = (model: ModelName, policy: PolicyName): ScenarioResult =>
  results[scenarios.findIndex((scenario) => scenario.model === model && scenario.policy === policy)] as ScenarioResult;
const reports = names.map((name) => {
  const own = resultOf(name, "bert-edge");
  const steady = Object.fromEntries(
    policyNames.map((policy) => [policy, sharesOf(binsOf(resultOf(name, policy), phasesOf(policy), "steady"))]),
  ) as Record<PolicyName, Shares>;
  const bounds = boundsOf(binsOf(own, wholeDay, "steady"));
  const recoveries = {
    outage: recoveryOf(own, wholeDay, "afterOutage"),
    crowd: recoveryOf(own, wholeDay, "afterCrowd"),
  };
  const { requests, isolates } = own;
  return {
    name,
    requests,
    isolates,
    bounds,
    steady,
    recoveries,
    checks: checksOf(name === "base", bounds, steady, recoveries),
  };
});
if (values.svg) {
  const panels = names.map((name) => ({ title: models[name].title, result: resultOf(name, "bert-edge") }));
  await writeFile(values.svg, plot(panels, wholeDay));
}
if (values.json) printJson({ rate, seed, models: reports });
else {
  for (const { name, requests, isolates, bounds, steady, checks } of reports) {
    printResult(`${models[name].title}: ${rate} requests/s, ${requests} requests, ${isolates} isolates\n`);
    printResult(`${describeShares(bounds, steady)}\n\n${describeChecks(checks)}\n`);
  }
}
