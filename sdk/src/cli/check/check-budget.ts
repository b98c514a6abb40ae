import type { ErrorCode } from "../../artifact/error-codes.ts";
import type { Reason } from "../../serve/contract/headers.ts";
import { type Finding, findingsOf } from "../finding.ts";
import { described, failed, type Probe } from "./probe.ts";

/** Texts of a request. More texts take longer at the edge, until the region is the faster tier. */
const TEXT_COUNTS = [1, 2, 4, 8, 16, 32, 64];

/** Budgets that are tried. Both tiers learn their speed from each answer, so the next budget is a better one. */
const TRIES = 4;

/** Reasons and codes of a decision whose times differ from those that gave the budget. They do not show that the region fails. */
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
          ? note(`No such budget: the edge refuses ${count} texts for its CPU limit, and the region answers them.`)
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
      `The region does not answer, though only it is expected to be in time: ${unexplained.join(", ")}.`,
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
