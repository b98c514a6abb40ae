/**
 * Simulates deployments with 300 points of presence, and compares the production policy with other policies and with an
 * upper bound that no policy exceeds. The model is described in docs/routing.md:
 *
 *     npm run bench -- routing-sim [--rate 100000] [--model mini,base] [--seed 1] [--svg <file>]
 *
 * `--rate` is the number of requests per second. The long form has 1,000,000. Results depend on the options only.
 */
import { writeFile } from "node:fs/promises";
import { describeChecks } from "./checks.ts";
import { command, namesIn, positive } from "./command.ts";
import { figuresOf } from "./figures.ts";
import { describeShares } from "./routing-sim/describe.ts";
import { binsOf, boundsOf, checksOf, recoveryOf, type Shares, sharesOf } from "./routing-sim/figures.ts";
import { type ModelName, models } from "./routing-sim/models.ts";
import { plot } from "./routing-sim/plot.ts";
import { type PolicyName, policies } from "./routing-sim/policies.ts";
import { runScenarios } from "./routing-sim/run-scenarios.ts";
import { type Scenario, type ScenarioResult, steadyOnly, wholeDay } from "./routing-sim/scenario.ts";

const all = Object.keys(models);

await command(
  {
    usage: [
      `npm run bench -- routing-sim [--rate <requests per second>] [--model <${all}>] [--seed n]`,
      "         [--svg <file>]",
    ].join("\n"),
    options: {
      rate: { type: "string" },
      model: { type: "string" },
      seed: { type: "string", default: "1" },
      svg: { type: "string" },
    },
  },
  async ({ values: { short, svg, ...values }, log }) => {
    const rate = positive("rate", values.rate ?? (short ? "300" : "100000"));
    const seed = positive("seed", values.seed);
    const names = namesIn("model", values.model, all) as ModelName[];
    const policyNames = Object.keys(policies) as PolicyName[];
    const phasesOf = (policy: PolicyName) => (policy === "bert-edge" ? wholeDay : steadyOnly);
    const scenarios: Scenario[] = policyNames.flatMap((policy) =>
      names.map((model) => ({ model, policy, rate, seed, phases: phasesOf(policy) })),
    );
    const message = `${scenarios.length} simulations`;
    log.progress({ message });
    const results = await runScenarios(scenarios, (done) =>
      log.progress({ message, fraction: done / scenarios.length }),
    );

    const resultOf = (model: ModelName, policy: PolicyName): ScenarioResult =>
      results[
        scenarios.findIndex((scenario) => scenario.model === model && scenario.policy === policy)
      ] as ScenarioResult;
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
    if (svg) {
      const panels = names.map((name) => ({ title: models[name].title, result: resultOf(name, "bert-edge") }));
      await writeFile(svg, plot(panels, wholeDay));
    }
    return {
      figures: reports.flatMap(({ name, requests, isolates, bounds, steady }) => [
        ...figuresOf(name, {
          requests: [requests, "count"],
          isolates: [isolates, "count"],
          bound: [bounds.both, "percent"],
        }),
        ...Object.entries(steady).flatMap(([policy, { kept, late, refused }]) =>
          figuresOf(`${name}, ${policy}`, {
            kept: [kept, "percent"],
            late: [late, "percent"],
            refused: [refused, "percent"],
          }),
        ),
      ]),
      text: reports
        .map(({ name, requests, isolates, bounds, steady, checks }) =>
          [
            `${models[name].title}: ${rate} requests/s, ${requests} requests, ${isolates} isolates`,
            describeShares(bounds, steady),
            describeChecks(checks),
          ].join("\n\n"),
        )
        .join("\n\n"),
      details: { rate, seed, models: reports },
    };
  },
);
