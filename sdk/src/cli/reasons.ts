import type { Reason } from "../serve/contract/headers.ts";

export interface Explanation {
  /** Who answers, and why. */
  readonly when: string;
  /** Setting or action that changes the reason; undefined if nothing has to be done. */
  readonly fix?: string;
}

/** Every reason of a response, for `bert-edge explain`. */
export const reasons: Readonly<Record<Reason, Explanation>> = {
  "no-budget": {
    when: "The edge answers, because the request has no latency budget.",
    fix: "Send x-latency-budget-ms, so that an answer that would be late comes from the region. Without a budget, only a queue at the edge sends requests there (edge-busy).",
  },
  "within-budget": { when: "The edge answers, because it is expected to be in time.", fix: "Nothing to do." },
  "only-tier": {
    when: "The edge answers, because there is no region.",
    fix: "Set REGION_URL to add one.",
  },
  "region-down": {
    when: "The region would be better, but it failed a short time ago, or has just failed or refused this request. The edge answers, or refuses too.",
    fix: "Read the region's log, ask its /ready, and run `bert-edge check`.",
  },
  "edge-over-budget": {
    when: "The region answers, because the edge could be late, or would make other requests late.",
    fix: "To keep such requests at the edge: a larger budget, shorter texts, fewer texts a request, or a smaller model.",
  },
  "edge-busy": {
    when: "The region answers, because the edge has a queue and would need more than 1.2 times the region's time.",
    fix: "To keep such requests at the edge: fewer texts a request, or x-bert-edge-tier: edge, with which they wait instead.",
  },
  "edge-cold": {
    when: "The region answers, because the edge is loading its model.",
    fix: "It ends within a second or so. A smaller model loads faster.",
  },
  "edge-cpu-limit": {
    when: "The region answers, because the edge would need more CPU time than cpuLimitMs.",
    fix: "To keep such requests at the edge: fewer texts a request. On a paid Workers plan, raise cpuLimitMs in functions/edge-settings.ts.",
  },
  precision: {
    when: "The region answers, because the edge's model has a lower precision than x-bert-edge-precision asks for.",
    fix: "Ask for a lower precision to keep such requests at the edge.",
  },
  "over-budget": {
    when: "Edge and region are both expected to be late. The one that is expected first answers.",
    fix: "Give a larger budget or shorter texts, or a faster region. x-bert-edge-decision has the predicted times.",
  },
  pinned: {
    when: "The tier of the request (x-bert-edge-tier), of its key or of the deployment's defaults allows no other one.",
    fix: "Leave out x-bert-edge-tier, and `tier` of the key and of the defaults, so that the deployment chooses.",
  },
};
