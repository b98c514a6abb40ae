import { type Decision, decide, type Situation } from "#sdk/serve/routing/decide.ts";

/** Decides who answers a request. */
export type Policy = (situation: Situation) => Decision;

const edgeOnly: Policy = (situation) => decide({ ...situation, pin: "here" });
const regionOnly: Policy = (situation) => decide({ ...situation, pin: "region" });

export type PolicyName = "bert-edge" | "edge-only" | "region-only" | "random";

/** The production policy, and the ones that it is compared with. All have the same queues, estimates and refusals. */
export const policies: Readonly<Record<PolicyName, (random: () => number) => Policy>> = {
  "bert-edge": () => decide,
  "edge-only": () => edgeOnly,
  "region-only": () => regionOnly,
  random: (random) => (situation) => (random() < 0.5 ? edgeOnly : regionOnly)(situation),
};
