import { bertEdgeDialect } from "./dialects/bert-edge.ts";
import type { RegionDialect } from "./dialects/dialect.ts";
import { openAiDialect } from "./dialects/openai.ts";
import { teiDialect } from "./dialects/tei.ts";
import { workersAiDialect } from "./dialects/workers-ai.ts";
import type { HttpDialect, RegionSettings } from "./region-settings.ts";
import { overHttps, overSageMaker, overWorkersAi, type Transport } from "./transports.ts";

/** Transport and dialect of a region. */
export interface RegionConnection extends Transport {
  readonly dialect: RegionDialect;
  /** Maximum number of texts per request to the region. */
  readonly maxInputs: number;
}

const dialects: Readonly<Record<HttpDialect, (model: string) => RegionDialect>> = {
  "bert-edge": () => bertEdgeDialect,
  tei: () => teiDialect,
  openai: openAiDialect,
};

/** Chooses the transport and the dialect of a region. */
export function regionConnection(settings: RegionSettings, fetcher: typeof fetch): RegionConnection {
  const { maxInputs } = settings;
  if (settings.dialect === "workers-ai") {
    return { ...overWorkersAi(settings), dialect: workersAiDialect(settings.pooling), maxInputs };
  }
  const { aws, dialect, model } = settings;
  const over = aws?.service === "sagemaker" ? overSageMaker : overHttps;
  return { ...over(settings, fetcher), dialect: dialects[dialect](model), maxInputs };
}
