import type { Budget, Figures } from "./contract/decision.ts";
import { isShort, type Situation } from "./routing/decide.ts";
import type { AnswerDetails } from "./service.ts";

/** Shortest time in ms that is not printed as 0.0. Shorter times are left out. */
const SHOWN_MS = 0.05;

/** Returns the figures on which a decision is based, by name: those of the situation and of the request's budget. */
export function decisionFigures(situation: Situation, { budgetMs, setBy }: Budget): Figures {
  const { remainingMs = 0, elapsedErrorMs, lostMs, pin, here, region } = situation;
  const figures: Figures = {};
  if (budgetMs !== undefined) {
    figures.budget = budgetMs;
    if (setBy === "default") figures["default-budget"] = true;
    if (setBy === "maximum") figures["longest-budget"] = true;
    if (budgetMs - remainingMs >= SHOWN_MS) figures.used = budgetMs - remainingMs;
    if (elapsedErrorMs >= SHOWN_MS) figures["arrival-error"] = elapsedErrorMs;
    if (lostMs >= SHOWN_MS) figures.lost = lostMs;
  }
  if (pin) figures.pinned = true;
  if (typeof here === "object") {
    figures.wait = here.waitMs;
    if (here.isNext && here.waitMs > 0) figures["next-turn"] = true;
    if (here.pages) {
      figures.pages = here.pages.ms;
      if (here.pages.reads > here.pages.maxReads) {
        figures["page-reads"] = here.pages.reads;
        figures["page-limit"] = here.pages.maxReads;
      }
    }
    if (region !== "none" && isShort(here) && here.waitMs > 0) figures.short = true;
    figures.compute = here.compute.ms;
    figures.spread = here.compute.spreadMs;
    if (here.cpuMs > here.cpuLimitMs) {
      figures.cpu = here.cpuMs;
      figures["cpu-limit"] = here.cpuLimitMs;
    }
    if (here.calls > 1) figures["several-calls"] = true;
    if (here.delaysOthers) figures["others-late"] = true;
    if (here.delaysFetches) figures["answers-late"] = true;
  }
  // The region does not count for a request that is pinned to this deployment.
  if (pin === "here") return figures;
  if (region === "down") figures["region-down"] = true;
  else if (region !== "none") {
    figures.region = region.ms;
    if (region.spreadMs >= SHOWN_MS) figures["region-spread"] = region.spreadMs;
    if (region.waitMs >= SHOWN_MS) figures["region-wait"] = region.waitMs;
  }
  return figures;
}

/** Formats the figures of a decision as a dictionary of RFC 8941: `budget=50, wait=12.3, hedge`. */
export const formatDecision = (decision: AnswerDetails["decision"]): string =>
  Object.entries(decision)
    .map(([name, value]) => (value === true ? name : `${name}=${value.toFixed(1)}`))
    .join(", ");
