import { BertEdgeError } from "../artifact/error.ts";
import type { TokenIds } from "../runtime/engine/engine.ts";
import type { Model } from "../runtime/model.ts";
import type { Tier } from "./contract/headers.ts";
import { checkDimensions, checkQuery, type Limits } from "./limits.ts";
import type { ModelHolder } from "./model-holder.ts";
import type { ExpectedAnswer } from "./region-answer.ts";
import type { RegionTier } from "./region-tier.ts";
import { type Decision, decide } from "./routing/decide.ts";
import { predictMs } from "./routing/predict-latency.ts";
import type { Background, EmbedAnswer, EmbedQuery, EmbedService } from "./service.ts";

export interface EmbedServiceOptions {
  holder: ModelHolder;
  /** Tier of this deployment. */
  tier: Tier;
  /** The region that answers when this deployment cannot answer in time; undefined without one. */
  region: RegionTier | undefined;
  limits: Limits;
  /** CPU time that the platform allows per request, in ms. */
  cpuLimitMs: number;
}

/**
 * Makes the service that answers requests. The service checks a request, tokenizes the texts and chooses a tier. Then
 * it asks the region, or runs the model here. If the region fails, the model runs here.
 */
export function embedService({ holder, tier, region, limits, cpuLimitMs }: EmbedServiceOptions): EmbedService {
  async function embed(query: EmbedQuery, background: Background): Promise<EmbedAnswer> {
    checkQuery(query, holder.name, limits);
    region?.keepMeasured(background);
    const loaded = holder.current(background);
    const whileLoading = loaded ? undefined : await askWhileLoading(query, background);
    if (whileLoading) return whileLoading;
    const answer = holder.using(loaded ?? (await holder.load(background)), (model) => answerWith(model, query));
    // Workers cancel the work of a request when the caller disconnects. Without `background`, the model could then
    // count as in use forever.
    background(answer.catch(() => {}));
    return answer;
  }

  async function askWhileLoading(query: EmbedQuery, background: Background): Promise<EmbedAnswer | undefined> {
    if (!region) return undefined;
    if (query.dimensions !== undefined) checkDimensions(query.dimensions, await holder.manifest(background));
    return askRegion(query, choose(query));
  }

  async function answerWith(model: Model, query: EmbedQuery): Promise<EmbedAnswer> {
    checkDimensions(query.dimensions, model.manifest);
    const sequences = model.tokenize(query.texts, query);
    const choice = choose(query, model, sequences);
    return (await askRegion(query, choice)) ?? runHere(query, choice, model, sequences);
  }

  /** Chooses the tier. `model` is undefined while this deployment is loading it. */
  function choose(query: EmbedQuery, model?: Model, sequences: readonly TokenIds[] = []): Decision & ExpectedAnswer {
    const computeMs = (model && predictMs(model.measurements, "regional-cpu", sequences)) ?? 0;
    const decision = decide({
      remainingMs: query.deadline.remainingMs(),
      edge: {
        ready: model !== undefined,
        predictedMs: model && predictMs(model.measurements, model.target, sequences),
        cpuLimitMs,
      },
      region: !region ? "none" : region.usable() ? { predictedMs: region.predict(computeMs) } : "down",
    });
    const { version, manifest } = model ?? {};
    return { ...decision, model: holder.name, version, dimensions: manifest?.dimensions, computeMs };
  }

  /** Returns the region's answer; undefined when the region was not chosen or failed. */
  async function askRegion(query: EmbedQuery, choice: Decision & ExpectedAnswer): Promise<EmbedAnswer | undefined> {
    if (choice.tier !== "region" || !region) return undefined;
    try {
      const answer = await region.embed(query, choice);
      return { ...answer, tier: "region", reason: choice.reason, predictedMs: choice.predictedMs };
    } catch (error) {
      if (!(error instanceof BertEdgeError && error.code === "region_failed")) throw error;
      console.error(`bert-edge: ${error.message} The edge answers.`, error.cause ?? "");
      return undefined;
    }
  }

  async function runHere(
    { deadline }: EmbedQuery,
    choice: Decision,
    model: Model,
    sequences: readonly TokenIds[],
  ): Promise<EmbedAnswer> {
    const { vectors, tokens, computeMs } = await model.embedTokens(sequences, deadline.elapsedMs);
    return {
      vectors,
      tokens,
      model: model.manifest.name,
      version: model.version,
      provider: model.provider,
      tier,
      reason: choice.tier === "region" ? "region-down" : choice.reason,
      predictedMs: predictMs(model.measurements, model.target, sequences),
      timings: { compute: computeMs },
    };
  }

  function ready(background: Background): ReturnType<EmbedService["ready"]> {
    region?.keepMeasured(background);
    const model = holder.current(background);
    return model && { model: model.manifest.name, version: model.version, provider: model.provider };
  }

  return { embed, ready };
}
