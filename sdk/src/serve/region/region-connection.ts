import { bertEdgeDialect } from "./dialects/bert-edge.ts";
import type { RegionDialect } from "./dialects/dialect.ts";
import { openAiDialect } from "./dialects/openai.ts";
import { teiDialect } from "./dialects/tei.ts";
import { workersAiDialect } from "./dialects/workers-ai.ts";
import type { HttpRegionSettings, RegionSettings } from "./region-settings.ts";
import { overHttps, overSageMaker, overWorkersAi, type Transport } from "./transports.ts";

/** How a region is reached, and what it understands. */
export interface RegionConnection extends Transport {
  readonly dialect: RegionDialect;
  /** Maximum texts of a request to the region. */
  readonly maxInputs: number;
}

/** Chooses the transport and the dialect of a region. */
export function regionConnection(settings: RegionSettings, fetcher: typeof fetch): RegionConnection {
  const { maxInputs } = settings;
  if (settings.dialect === "workers-ai") {
    return { ...overWorkersAi(settings), dialect: workersAiDialect(settings.pooling), maxInputs };
  }
  const { aws } = settings;
  const transport =
    aws?.service === "sagemaker" ? overSageMaker({ ...settings, aws }, fetcher) : overHttps(settings, fetcher);
  return { ...transport, dialect: dialectOf(settings), maxInputs };
}

function dialectOf({ dialect, model }: HttpRegionSettings): RegionDialect {
  switch (dialect) {
    case "bert-edge":
      return bertEdgeDialect;
    case "tei":
      return teiDialect;
    case "openai":
      return openAiDialect(model);
  }
}
