import type { Figure } from "../serve/contract/decision.ts";
import type { Reason } from "../serve/contract/headers.ts";
import type { Explanation } from "./reasons.ts";

const HERE = "this deployment, which is the edge, or a region that is called directly";

/** Every figure of `x-bert-edge-decision`, for `bert-edge explain`. Figures that are reasons too are explained as reasons. */
export const figures: Readonly<Record<Exclude<Figure, Reason>, Explanation>> = {
  budget: { when: "The whole latency budget of the request, in ms.", fix: "Send x-latency-budget-ms to change it." },
  "default-budget": {
    when: "The request gives no budget, so that of its key or of the deployment's `defaults` applied.",
    fix: "Send x-latency-budget-ms with another number, or with `none`.",
  },
  "longest-budget": {
    when: "The request gives a longer budget, or none, so the longest one applied that the operator allows.",
    fix: "Change maxLatencyBudgetMs of the key or of the deployment's `defaults`.",
  },
  used: {
    when: "Part of the budget that was over when the request was decided, in ms.",
    fix: "Loads of a model and computations of other requests take it: send fewer texts a request.",
  },
  "arrival-error": {
    when: "Largest error of the time at which the request arrived, in ms. Requests that arrive during a computation are handled after it.",
    fix: "Send fewer texts a request, so that computations are shorter.",
  },
  lost: {
    when: "Part of the budget that computations of other requests have taken, at most, in ms.",
    fix: "Send fewer texts a request, so that computations are shorter.",
  },
  wait: { when: `Predicted wait in the queue of ${HERE}, in ms.`, fix: "Send fewer requests at a time." },
  compute: {
    when: `Predicted computation at ${HERE}, without the wait, in ms.`,
    fix: "Send fewer or shorter texts, or serve a smaller model.",
  },
  spread: {
    when: "Mean deviation of compute from its prediction, in ms. A tier is certain to be in time with three deviations to spare.",
  },
  cpu: {
    when: "CPU time of the computation in ms, on the machine that measured the model. It exceeds cpu-limit.",
    fix: "Send fewer or shorter texts, or serve a smaller model.",
  },
  "cpu-limit": {
    when: "CPU time that the platform allows, in ms: the option cpuLimitMs.",
    fix: "On a paid Workers plan, raise cpuLimitMs in functions/edge-settings.ts, and cpu_ms in wrangler.toml.",
  },
  "next-turn": { when: "No other request of this caller waits: only requests of others, who take turns with it." },
  short: {
    when: "The computation here takes no more time than asking the region is worth, so the queue alone does not send it there.",
  },
  "several-calls": { when: "The computation has several calls of the engine, so it can stop between them." },
  "others-late": {
    when: "The computation here would make another request late.",
    fix: "Send fewer texts a request.",
  },
  "answers-late": {
    when: "The computation here would make an answer of the region late that is due meanwhile.",
    fix: "Send fewer texts a request.",
  },
  region: {
    when: "Predicted time until the region's answer, in ms: network, queue and computation. Before the first measurement, the network counts as priorMs (50).",
    fix: "Use a region that is nearer or faster.",
  },
  "region-spread": {
    when: "Mean deviation of region from its prediction, in ms. It shrinks with each similar answer of the region.",
  },
  "region-wait": {
    when: "Part of region that is spent in queues, in ms: those of the region and of the edge.",
    fix: "Give the region more machines, or more SESSIONS.",
  },
  "region-refused": {
    when: "The region refused this request as overloaded, and no other tier may answer.",
    fix: "Leave out x-bert-edge-tier, or give the region more machines.",
  },
  hedge: { when: "The edge was uncertain, so both tiers were asked, and the first answer counts." },
};
