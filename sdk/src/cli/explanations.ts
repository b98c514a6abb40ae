import { errorCodes } from "../artifact/error-codes.ts";
import type { OwnErrorCode } from "../client/errors.ts";
import type { Figure } from "../serve/contract/decision.ts";
import type { Reason } from "../serve/contract/headers.ts";

export interface Explanation {
  /** The situation in which the reason is given. */
  readonly when: string;
  /** Setting or action that changes the reason; undefined if nothing has to be done. */
  readonly fix?: string;
}

/** Every reason of a response, for `bert-edge explain`. */
const reasons: Readonly<Record<Reason, Explanation>> = {
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
    fix: "Loading ends within about a second. A smaller model loads faster.",
  },
  "edge-cpu-limit": {
    when: "The region answers, because the edge would need more CPU time than cpuLimitMs.",
    fix: "To keep such requests at the edge: fewer texts a request. On a paid Workers plan, raise cpuLimitMs in functions/edge-settings.ts.",
  },
  "edge-pages": {
    when: "The region answers, because the edge would need more than `maxPageReads` reads of pages of its vocabulary, or because a read failed or took too long.",
    fix: "To keep such requests at the edge: fewer texts a request, or a model that was prepared with a larger --max-memory. If reads fail, check the store.",
  },
  precision: {
    when: "The region answers, because the edge's model has a lower precision than x-bert-edge-precision asks for.",
    fix: "Ask for a lower precision to keep such requests at the edge.",
  },
  "over-budget": {
    when: "Edge and region are both expected to be late, so the tier that is expected to be faster answers.",
    fix: "Give a larger budget or shorter texts, or a faster region. x-bert-edge-decision has the predicted times.",
  },
  pinned: {
    when: "The request (x-bert-edge-tier), its key or the deployment's defaults pin this tier.",
    fix: "Leave out x-bert-edge-tier, and `tier` of the key and of the defaults, so that the deployment chooses.",
  },
};

const HERE = "this deployment, which is the edge, or a region that is called directly";

/** Every figure of `x-bert-edge-decision`, for `bert-edge explain`. Figures that are also reasons are in `reasons`. */
export const figures: Readonly<Record<Exclude<Figure, Reason>, Explanation>> = {
  budget: { when: "The whole latency budget of the request, in ms.", fix: "Send x-latency-budget-ms to change it." },
  "default-budget": {
    when: "The request gives no budget, so the budget of its key or of the deployment's `defaults` applied.",
    fix: "Send x-latency-budget-ms with another number, or with `none`.",
  },
  "longest-budget": {
    when: "The request gives no budget, or a longer one than the operator allows, so the longest allowed budget applied.",
    fix: "Change maxLatencyBudgetMs of the key or of the deployment's `defaults`.",
  },
  used: {
    when: "Part of the budget that had passed when the tier was chosen, in ms.",
    fix: "Loading a model and computing other requests use it up: send fewer texts a request.",
  },
  "arrival-error": {
    when: "Largest error of the time at which the request arrived, in ms. Requests that arrive during a computation are handled after it.",
    fix: "Send fewer texts a request, so that computations are shorter.",
  },
  lost: {
    when: "Maximum part of the budget that computations of other requests have taken, in ms.",
    fix: "Send fewer texts a request, so that computations are shorter.",
  },
  wait: { when: `Predicted wait in the queue of ${HERE}, in ms.`, fix: "Send fewer requests at a time." },
  pages: {
    when: `Predicted time in which ${HERE} reads rows of its vocabulary from the store, in ms. A model has pages if its weights do not fit --max-memory of \`prepare\`.`,
    fix: "Prepare the model with a larger --max-memory. Texts like those of --calibration need the fewest reads.",
  },
  "page-reads": {
    when: "Number of reads from the store that rows of the vocabulary would need. It exceeds page-limit.",
    fix: "Send fewer texts a request.",
  },
  "page-limit": {
    when: "Reads that a request may cause: maxPageReads of the option limits.",
    fix: "If the platform allows more fetches a request, raise maxPageReads.",
  },
  compute: {
    when: `Predicted computation at ${HERE}, without the wait, in ms.`,
    fix: "Send fewer or shorter texts, or serve a smaller model.",
  },
  spread: {
    when: "Mean deviation of compute from its prediction, in ms. A tier counts as certain to be in time if its prediction plus three deviations is within the budget.",
  },
  cpu: {
    when: "CPU time of the computation in ms, on the machine that measured the model. It exceeds cpu-limit.",
    fix: "Send fewer or shorter texts, or serve a smaller model.",
  },
  "cpu-limit": {
    when: "CPU time that the platform allows, in ms: the option cpuLimitMs.",
    fix: "On a paid Workers plan, raise cpuLimitMs in functions/edge-settings.ts, and cpu_ms in wrangler.toml.",
  },
  "next-turn": {
    when: "No other request of this caller waits. The requests that wait are of other callers, who take turns with it.",
  },
  short: {
    when: "The computation here is so short that asking the region saves no work, so a queue alone does not send the request there.",
  },
  "several-calls": { when: "The computation has several calls of the engine, so it can stop between them." },
  "others-late": {
    when: "The computation here would make another request late.",
    fix: "Send fewer texts a request.",
  },
  "answers-late": {
    when: "An answer of the region is due during the computation here, and would be handled too late.",
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
    when: "Part of the time in region that is spent in the queues of the region and of the edge, in ms.",
    fix: "Give the region more machines, or more SESSIONS.",
  },
  "region-refused": {
    when: "The region refused this request as overloaded, and no other tier may answer.",
    fix: "Leave out x-bert-edge-tier, or give the region more machines.",
  },
  hedge: { when: "The edge was uncertain, so both tiers were asked, and the first answer counts." },
};

/** The codes of the typed client. `http_<status>` stands for all codes of that form. */
export const clientCodes: Readonly<Record<OwnErrorCode | "http_<status>", Explanation>> = {
  connection: {
    when: "The service could not be reached, or the connection was dropped.",
    fix: "Check the URL and the network. Trying again can help.",
  },
  redirected: {
    when: "The service answered with a redirect, which the client does not follow: it would carry texts to another host.",
    fix: "Set baseURL to the address that the hint names.",
  },
  response_invalid: {
    when: "A successful response does not come from bert-edge, or is damaged: a vector is empty, not finite or has another length.",
    fix: "Check the URL, proxies before the deployment, and what `bert-edge check` says.",
  },
  timeout: { when: "No answer came within `timeoutMs`.", fix: "Allow more time, or send fewer texts a request." },
  version_changed: {
    when: "A new version of the model was published during the call. Vectors of different versions cannot be compared.",
    fix: "Repeat the whole call. Vectors that you have stored come from the old version: embed those texts again.",
  },
  "http_<status>": {
    when: "The response comes from the platform or from a proxy. JSON errors of your own app keep their code.",
    fix: "Check the URL. The log of the Worker says why it fails: `npx wrangler tail`.",
  },
};

/** Error codes, the figures of a decision, and the reasons for which a tier answers. `pinned` and `region-down` are figures and reasons. */
const explanations: Readonly<Record<string, Explanation>> = { ...errorCodes, ...clientCodes, ...figures, ...reasons };

export const explainedCodes = Object.keys(explanations);

/** Returns when a code or a reason occurs, and how to fix it; undefined if it is unknown. */
export const explanationOf = (code: string): Explanation | undefined =>
  Object.hasOwn(explanations, code)
    ? explanations[code]
    : /^http_\d{3}$/.test(code)
      ? clientCodes["http_<status>"]
      : undefined;
