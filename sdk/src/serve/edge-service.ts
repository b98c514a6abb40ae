import { BertEdgeError } from "../artifact/error.ts";
import type { TokenIds } from "../runtime/engine/engine.ts";
import type { Model } from "../runtime/model.ts";
import { checkQuery, describeReady, type Limits, predictMs, runHere } from "./local-tier.ts";
import type { ModelHolder } from "./model-holder.ts";
import type { ExpectedAnswer, RegionTier } from "./region-tier.ts";
import { type Decision, decide } from "./routing/decide.ts";
import type { EmbedAnswer, EmbedQuery, EmbedService } from "./service.ts";

export interface EdgeServiceOptions {
  holder: ModelHolder;
  region: RegionTier | undefined;
  limits: Limits;
  /** CPU time the platform allows a request, in ms. */
  cpuLimitMs: number;
}

/** check → tokenize → decide → ask the region or run here; and run here whenever the region fails. */
export function edgeService({ holder, region, limits, cpuLimitMs }: EdgeServiceOptions): EmbedService {
  function choose(query: EmbedQuery, model?: Model, sequences: readonly TokenIds[] = []): Decision & ExpectedAnswer {
    const computeMs = (model && predictMs(model, "regional-cpu", sequences)) ?? 0;
    const decision = decide({
      remainingMs: query.deadline.remainingMs(),
      edge: {
        ready: model !== undefined,
        predictedMs: model && predictMs(model, "edge", sequences),
        cpuLimitMs,
      },
      region: !region ? "none" : region.usable() ? { predictedMs: region.predict(computeMs) } : "down",
    });
    return {
      ...decision,
      model: holder.name,
      version: model?.version,
      dimensions: model?.manifest.dimensions,
      computeMs,
    };
  }

  /** The region's answer; undefined when it was not chosen or failed. */
  async function fromRegion(query: EmbedQuery, choice: Decision & ExpectedAnswer): Promise<EmbedAnswer | undefined> {
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

  return {
    async embed(query, background) {
      checkQuery(query, holder.name, limits);
      region?.keepMeasured(background);
      const held = holder.current(background);
      const whileLoading = held ? undefined : await fromRegion(query, choose(query));
      if (whileLoading) return whileLoading;
      const answer: Promise<EmbedAnswer> = holder.using(held ?? (await holder.load(background)), async (model) => {
        const sequences = model.tokenize(query.texts, query);
        const choice = choose(query, model, sequences);
        const regional = await fromRegion(query, choice);
        if (regional) return regional;
        return {
          ...(await runHere(query, model, sequences)),
          tier: "edge",
          reason: choice.tier === "edge" ? choice.reason : "region-down",
          predictedMs: predictMs(model, "edge", sequences),
        };
      });
      // Without this, work for a caller who has hung up would stop half-way and hold the model for ever.
      background(answer.catch(() => {}));
      return answer;
    },
    ready(background) {
      region?.keepMeasured(background);
      return describeReady(holder.current(background));
    },
  };
}
