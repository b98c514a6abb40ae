import type { Figure, Figures } from "../serve/contract/decision.ts";
import { defaultLimits } from "../serve/limits.ts";
import { maxLateMs } from "../serve/routing/deadline.ts";
import { CERTAIN, type Decision, decide, type Situation } from "../serve/routing/decide.ts";
import { figures as known } from "./explanations.ts";

/** Figures without a value, which are present or absent. All other figures are numbers. */
const flags: ReadonlySet<string> = new Set<Figure>([
  ...([
    "default-budget",
    "longest-budget",
    "next-turn",
    "short",
    "several-calls",
    "others-late",
    "answers-late",
  ] as const),
  ...(["region-down", "region-refused", "pinned", "hedge"] as const),
]);

/**
 * Reads the figures of a decision from the text of `x-bert-edge-decision`: `budget=50.0, wait=12.3, hedge`. Returns undefined for other
 * texts.
 */
export function parseDecision(text: string): Figures | undefined {
  const figures: Record<string, number | true> = {};
  for (const part of text.replace(/^\s*x-bert-edge-decision:/i, "").split(",")) {
    const [, name = "", value] = /^\s*([a-z-]+)(?:=(\d+(?:\.\d+)?))?\s*$/.exec(part) ?? [];
    if (flags.has(name) === (value !== undefined) || !(flags.has(name) || Object.hasOwn(known, name))) return undefined;
    figures[name] = value === undefined ? true : Number(value);
  }
  // Without numbers, the text is not a decision, but the name of a figure to explain.
  return Object.values(figures).some((value) => value !== true) ? figures : undefined;
}

/** Says in a sentence what a decision was based on, and what was decided. */
export function explainDecision(figures: Figures): string {
  const situation = situationOf(figures);
  const parts = [...budgetPart(figures, situation), ...edgePart(situation), ...regionPart(situation, figures)];
  const sentence = `${parts.join("; ")}; so ${outcome(situation, figures)}.`;
  return sentence[0]?.toUpperCase() + sentence.slice(1);
}

const number = (figures: Figures, name: Figure): number => Number(figures[name] ?? 0);

/** Returns the situation in which a decision had these figures. Limits that are not among the figures have a deployment's defaults. */
function situationOf(figures: Figures): Situation {
  const { budget, compute, region } = figures;
  const of = (name: Figure) => number(figures, name);
  const budgetMs = budget === undefined ? undefined : Number(budget);
  return {
    remainingMs: budgetMs === undefined ? undefined : budgetMs - of("used"),
    elapsedErrorMs: of("arrival-error"),
    lostMs: of("lost"),
    maxLateMs: maxLateMs(budgetMs),
    maxWaitMs: defaultLimits.maxWaitMs,
    pin: figures.pinned ? (region === undefined && !figures["region-down"] ? "here" : "region") : undefined,
    here:
      compute === undefined
        ? "loading"
        : {
            waitMs: of("wait"),
            pages:
              figures.pages === undefined
                ? undefined
                : { ms: of("pages"), reads: of("page-reads"), maxReads: of("page-limit") },
            isNext: figures["next-turn"] === true,
            compute: { ms: Number(compute), spreadMs: of("spread") },
            delaysOthers: figures["others-late"] === true,
            delaysFetches: figures["answers-late"] === true,
            engineMs: figures.short ? 0 : Number(compute),
            calls: figures["several-calls"] ? 2 : 1,
            cpuMs: of("cpu"),
            cpuLimitMs: figures["cpu-limit"] === undefined ? Number.POSITIVE_INFINITY : of("cpu-limit"),
          },
    region: figures["region-down"]
      ? "down"
      : region === undefined
        ? "none"
        : { ms: Number(region), spreadMs: of("region-spread"), waitMs: of("region-wait") },
  };
}

const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

function budgetPart(figures: Figures, { remainingMs }: Situation): string[] {
  if (remainingMs === undefined) return ["there was no budget"];
  const whose = figures["default-budget"] ? "default budget" : figures["longest-budget"] ? "longest budget" : "budget";
  return [`${ms(remainingMs)} of the ${whose} of ${ms(number(figures, "budget"))} were left`];
}

function edgePart({ here }: Situation): string[] {
  if (typeof here !== "object")
    return ["the edge had not loaded its model, or has a lower precision than was asked for"];
  const { waitMs, pages, compute, cpuMs, cpuLimitMs, delaysOthers, delaysFetches } = here;
  const totalMs = waitMs + (pages?.ms ?? 0) + compute.ms;
  const latestMs = totalMs + CERTAIN * compute.spreadMs * (totalMs / Math.max(compute.ms, Number.MIN_VALUE));
  return [
    `the edge needs ${ms(totalMs)}, of which ${ms(waitMs)} are its queue, and is certain to have answered after ${ms(latestMs)}`,
    ...(pages ? [`${ms(pages.ms)} of that are for reading rows of the vocabulary`] : []),
    ...(pages && pages.reads > pages.maxReads
      ? [`they are ${pages.reads} reads, and ${pages.maxReads} are allowed`]
      : []),
    ...(cpuMs > cpuLimitMs ? [`that is ${ms(cpuMs)} of CPU time, and ${ms(cpuLimitMs)} are allowed`] : []),
    ...(delaysOthers ? ["it would make another request late"] : []),
    ...(delaysFetches ? ["it would handle an answer of the region too late"] : []),
  ];
}

function regionPart({ region, pin }: Situation, figures: Figures): string[] {
  if (pin === "here") return ["the request was pinned, and the figures do not tell to which tier"];
  if (pin === "region" && region === "down") return ["the request was pinned to the region, which was down"];
  if (region === "none") return ["there is no region"];
  if (region === "down") return ["the region was down"];
  const certain = `and is certain to have answered after ${ms(region.ms + CERTAIN * region.spreadMs)}`;
  return [
    `the region needs ${ms(region.ms)}, ${certain}`,
    ...(figures["region-refused"] ? ["it refused the request"] : []),
  ];
}

function outcome(situation: Situation, figures: Figures): string {
  if (figures["region-refused"]) return "nobody answers (overloaded)";
  const decision: Decision = decide(situation);
  if (situation.here === "loading" && situation.region === "none") {
    return "the edge answers when it has loaded, or nobody does (precision_unavailable)";
  }
  if (situation.pin === "here") {
    const atEdge = "refusal" in decision ? `nobody answers (${decision.refusal}` : "the edge answers (pinned";
    return `${atEdge}, or tier_missing if there is no region that it was pinned to)`;
  }
  if ("refusal" in decision) return `nobody answers (${decision.refusal})`;
  const { tier, reason, hedge } = decision;
  if (hedge || figures.hedge) return "both are asked, and the first answer counts";
  return `${tier === "here" ? "the edge" : "the region"} answers (${reason})`;
}
