import { checkQuery, describeReady, type Limits, predictMs, runHere } from "./local-tier.ts";
import type { ModelHolder } from "./model-holder.ts";
import type { EmbedService } from "./service.ts";

/** check → tokenize → run. */
export function regionService({ holder, limits }: { holder: ModelHolder; limits: Limits }): EmbedService {
  return {
    async embed(query, background) {
      checkQuery(query, holder.name, limits);
      const loaded = holder.current(background) ?? (await holder.load(background));
      return holder.using(loaded, async (model) => {
        const sequences = model.tokenize(query.texts, query);
        return {
          ...(await runHere(query, model, sequences)),
          tier: "region",
          reason: "only-tier",
          predictedMs: predictMs(model, model.target, sequences),
        };
      });
    },
    ready(background) {
      return describeReady(holder.current(background));
    },
  };
}
