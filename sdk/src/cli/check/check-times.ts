import type { ErrorCode } from "../../artifact/error-codes.ts";
import type { Reason } from "../../serve/contract/headers.ts";
import { type Finding, findingsOf } from "../finding.ts";
import { FREE_PLAN_MS } from "../wrangler/cloudflare.ts";
import { described, failed, type Probe, type ProbeAnswer } from "./probe.ts";

/** Numbers of texts to try in a request. With more texts, the edge takes longer, until the region is the faster tier. */
const TEXT_COUNTS = [1, 2, 4, 8, 16, 32, 64];

/** Maximum number of budgets to try. Each answer improves the predictions for both tiers, from which the next budget is computed. */
const TRIES = 4;

/** Reasons and error codes that can occur because the predicted times changed between two requests. They do not prove a fault. */
const changesWithTimes: ReadonlySet<string | undefined> = new Set<Reason | ErrorCode>([
  "within-budget",
  "over-budget",
  "overloaded",
  "budget_exceeded",
]);

/** Checks that the region answers when the budget is too small for the edge, and large enough for the region. */
export async function checkBudget({ ask }: Probe, text: string): Promise<Finding> {
  const { ok, note, broken } = findingsOf("budget", "a budget that only the region can keep");
  let figures: Record<string, number> = {};
  const outcomes: (string | undefined)[] = [];
  for (const count of TEXT_COUNTS) {
    const texts = Array<string>(count).fill(text);
    while (outcomes.length < TRIES) {
      const [edge, region] = [await ask(texts, { tier: "edge" }), await ask(texts, { tier: "region" })];
      if (failed(region)) {
        return broken(`The region does not answer ${count} texts: ${described(region)}`, "Check the region's log.");
      }
      if (failed(edge)) {
        return edge.code === "request_too_costly"
          ? note(
              `No such budget: the edge refuses ${count} texts because of its CPU limit, and the region answers them.`,
            )
          : broken(`The edge does not answer ${count} texts: ${described(edge)}`, edge.hint ?? "Check the log.");
      }
      const [edgeMs, regionMs] = [edge.predictedMs, region.predictedMs];
      if (edgeMs === undefined || regionMs === undefined || regionMs >= edgeMs) break;
      const budgetMs = (edgeMs + regionMs) / 2;
      figures = { texts: count, budgetMs, edgeMs, regionMs };
      const outcome = await ask(texts, { budgetMs });
      if (!failed(outcome) && outcome.tier === "region") {
        const times = `edge ${edgeMs.toFixed(0)} ms, region ${regionMs.toFixed(0)} ms`;
        return ok(`The region answers ${count} texts within ${budgetMs.toFixed(0)} ms (predicted: ${times}).`, figures);
      }
      outcomes.push(failed(outcome) ? outcome.code : outcome.reason);
    }
  }
  const unexplained = outcomes.filter((outcome) => !changesWithTimes.has(outcome));
  if (unexplained.length > 0) {
    return broken(
      `Only the region is expected to be in time, but it does not answer: ${unexplained.join(", ")}.`,
      'Check REGION_URL, REGION_KEY and the region\'s log. `log: "all"` in functions/edge-settings.ts logs each decision.',
      figures,
    );
  }
  return outcomes.length === 0
    ? note(`The edge is expected to be faster than the region for up to ${TEXT_COUNTS.at(-1)} texts.`)
    : note(
        `No budget was found that only the region keeps, since the times of both tiers change: ${outcomes.join(", ")}.`,
        figures,
      );
}

/** Reports whether the edge's clock runs while it computes. */
export function checkClock(answers: readonly ProbeAnswer[]): Finding {
  const { ok, note, broken } = findingsOf("clock", "edge");
  const computed = answers.flatMap(({ computeMs }) => computeMs ?? []);
  if (computed.length === 0) {
    return broken(
      "Its answers have no server-timing, so it is unknown how long they took.",
      "Let the header server-timing pass through proxies and gateways.",
    );
  }
  const longest = Math.max(...computed);
  if (longest > 0) return ok(`It runs during computation: up to ${longest.toFixed(1)} ms measured.`, { longest });
  return note(
    "It stands still during computation, as on all deployed Workers. Only reports of the typed client correct the edge's predictions.",
  );
}

/** Checks that the edge can compute the longest text, and says what this text costs. */
export async function checkCpuLimit({ ask }: Probe, longText: string): Promise<Finding> {
  const { ok, note, broken } = findingsOf("cpu-limit", "edge");
  const outcome = await ask([longText], { tier: "edge" });
  if (failed(outcome)) {
    if (outcome.code === "request_too_costly") return note(`It refuses the longest text by itself: ${outcome.message}`);
    return broken(
      `The longest text gets ${described(outcome)}`,
      outcome.hint ?? "Set cpuLimitMs in functions/edge-settings.ts to the CPU time of your Workers plan.",
    );
  }
  const { predictedMs } = outcome;
  if (predictedMs === undefined) return ok("It computes the longest text.");
  const plan =
    predictedMs > FREE_PLAN_MS
      ? ` That is more than the free Workers plan allows: there, set cpuLimitMs to ${FREE_PLAN_MS}.`
      : "";
  return ok(`It computes the longest text, in about ${predictedMs.toFixed(1)} ms.${plan}`, { predictedMs });
}

/** Reports how long requests take from here. */
export function checkTimes(
  answers: Readonly<Record<string, readonly ProbeAnswer[] | undefined>>,
  coldMs: number | undefined,
): Finding[] {
  const cold = findingsOf("times", "first request");
  return [
    coldMs === undefined
      ? cold.note(
          "The deployment was warm already. Its cold start shows after a deployment, or some time without requests.",
        )
      : cold.ok(`A cold deployment answered after ${coldMs.toFixed(0)} ms.`, { coldMs }),
    ...Object.entries(answers).flatMap(([tier, all]) => {
      const ms = (all ?? []).map((answer) => answer.ms).sort((a, b) => a - b);
      const [median, worst] = [ms[ms.length >> 1], ms.at(-1)];
      if (median === undefined || worst === undefined) return [];
      const what = `Warm, from here: ${median.toFixed(1)} ms (median), ${worst.toFixed(1)} ms (slowest of ${ms.length}).`;
      return [findingsOf("times", tier).ok(what, { median, worst })];
    }),
  ];
}
