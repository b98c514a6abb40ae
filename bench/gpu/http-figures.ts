import { join } from "node:path";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { loadTokenizer } from "#sdk/runtime/tokenizer/load-tokenizer.ts";
import { timingOf } from "#sdk/serve/contract/headers.ts";
import { fsStore } from "#sdk/storage/fs.ts";
import { publish } from "#sdk/storage/publish.ts";
import { startRegionProcess } from "#test/fixtures/region-process.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { KEY } from "../routing/context.ts";
import { embed } from "../routing/embed.ts";
import { startGenerator } from "../routing/load/generator.ts";
import type { LoadJob } from "../routing/load/job.ts";
import { summarize } from "../routing/load/summarize.ts";
import { drawTexts } from "../routing/load/texts.ts";
import { median } from "../run-tool.ts";

const TOKENS = 128;
/** Texts of a request. */
const SIZES = [1, 16];
const usual = { clients: 64, warmMs: 3_000, probes: 20 };
const few = { clients: 2, warmMs: 100, probes: 2 };

/** Figures of requests through HTTP, with 64 clients that each send the next request after an answer. */
export interface HttpFigures {
  /** Texts of a request, of 128 tokens each. */
  readonly texts: number;
  /** Texts per second of all clients. */
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Shares of the time of a request on an idle region: the engine by the answer's `server-timing`, and the tokenizer. */
  readonly shares: { readonly engine: number; readonly tokenizer: number; readonly rest: number };
}

interface HttpOptions {
  readonly provider: "cuda" | "cpu";
  readonly seconds: number;
  /** Folder for the published model. */
  readonly folder: string;
  /** Send the fewest requests. */
  readonly short: boolean;
}

export async function httpFigures(
  artifact: PublishableArtifact,
  { provider, seconds, folder, short }: HttpOptions,
): Promise<HttpFigures[]> {
  const store = join(folder, "store");
  const { name } = await publish(artifact, fsStore(store));
  await using opened = new AsyncDisposableStack();
  const env = { MODEL: name, MODELS_FOLDER: store, PROVIDERS: provider, API_KEYS: KEY };
  const { url } = opened.adopt(await startRegionProcess({ env }), ({ stop }) => stop());
  const generator = opened.adopt(startGenerator(), ({ stop }) => stop());
  const tokenizer = await loadTokenizer(artifact.manifest, artifact.read);

  const { clients, warmMs, probes } = short ? few : usual;
  const figures: HttpFigures[] = [];
  for (const texts of SIZES) {
    const length = { tokens: texts * TOKENS, texts };
    const inputs = drawTexts(length, randomNumbers(1));
    const [wholeMs, engineMs] = [[] as number[], [] as number[]];
    for (let i = 0; i < probes; i++) {
      const { ms, headers } = await embed(url, inputs);
      wholeMs.push(ms);
      engineMs.push(timingOf(`${headers["server-timing"]}`, "compute"));
    }
    const start = performance.now();
    for (let i = 0; i < probes; i++) for (const text of inputs) tokenizer.encode(text, artifact.manifest.maxTokens);
    const tokenizerMs = (performance.now() - start) / probes;
    const [whole, engine] = [median(wholeMs), median(engineMs)];
    const job: LoadJob = {
      ...{ url, key: KEY, traffic: { loop: "closed", clients }, length, budgetMs: undefined },
      ...{ pin: undefined, seed: 1, warmMs, measuredMs: 1000 * seconds },
    };
    const { goodput, p50, p99, lost } = summarize(job, await generator.run(job));
    if (lost > 0) throw new Error(`${lost} requests failed.`);
    const shares = { engine: engine / whole, tokenizer: tokenizerMs / whole };
    figures.push({
      ...{ texts, perSecond: goodput * texts, p50, p99 },
      shares: { ...shares, rest: 1 - shares.engine - shares.tokenizer },
    });
  }
  return figures;
}
