import { setTimeout as sleep } from "node:timers/promises";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { BUDGET_HEADER, PREDICTED_HEADER, TIER_HEADER } from "#sdk/serve/contract/headers.ts";
import { decodeFloats } from "#sdk/serve/contract/vector-text.ts";
import type { EmbedResponse } from "#sdk/serve/tasks/embed.ts";
import { startDirectEdge } from "#test/fixtures/direct-edge.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { type Access, startEmbed } from "#test/fixtures/start-embed.ts";
import type { Reply } from "#test/fixtures/start-post.ts";
import { type Context, KEY } from "../context.ts";
import { isRefusal } from "../load/ask.ts";
import { drawTexts } from "../load/texts.ts";
import { startProxy } from "../proxy.ts";
import { regionEnv } from "../tiers.ts";
import { impose } from "./impose.ts";
import { impostors } from "./impostors.ts";

const TEXTS = 6;
/** Budget as a part of the edge's predicted time: only the region is predicted to keep it. */
const TIGHT = 0.9;
/** Minimum cosine between the tiers' vectors, which quantize in different ways. Measured: 0.998. */
const MIN_COSINE = 0.98;
/** Maximum error of a vector's length, which is 1. */
const MAX_NORM_ERROR = 1e-3;
/** Time in which an answer must be there. The edge may wait for a silent region until its timeout, and then computes. */
const PATIENCE_MS = 20_000;
/** Impostors of a short run. */
const SHORT = ["NaN vectors", "another version", "status 500"];

export interface HostileResult {
  readonly name: string;
  /** Requests for outputs that reached the impostor. */
  readonly asked: number;
  readonly answered: number;
  readonly refused: number;
  /** Descriptions of the other answers. */
  readonly lost: readonly string[];
}

/**
 * Lets impostors answer in the region's place. Each of them is asked by a cold edge, by a warm one whose budget requires
 * the region, and by one whose tier is pinned.
 *
 * @param region address of the genuine region
 */
export async function askImpostors(context: Context, region: string): Promise<HostileResult[]> {
  const genuine: Access = { url: region, key: KEY };
  const inputs = Array.from({ length: TEXTS }, () => drawTexts("long", randomNumbers(context.options.seed))).flat();
  const expected = embeddingsIn(await startEmbed(genuine, inputs).reply);
  const results: HostileResult[] = [];
  for (const [name, impostor] of Object.entries(impostors)) {
    if (context.options.short && !SHORT.includes(name)) continue;
    context.stage(`a region with ${name}`);
    let asked = 0;
    await using started = new AsyncDisposableStack();
    const proxy = started.adopt(await startProxy(region), ({ stop }) => stop());
    const listener = impose(genuine, impostor, () => {
      asked++;
    });
    proxy.change({ impostor: listener });
    const env = { ...context.env, ...regionEnv(proxy.url) };
    const edge = started.adopt(await startDirectEdge({ modules: context.modules, env, warm: false }), ({ stop }) =>
      stop(),
    );
    const access = { url: edge.url, key: KEY };
    const outcomes: string[] = [];
    const ask = async (headers: Record<string, string> = {}): Promise<Reply | undefined> => {
      const post = startEmbed(access, inputs, headers);
      const reply = await Promise.race([
        post.reply.catch(() => undefined),
        sleep(PATIENCE_MS, undefined, { ref: false }),
      ]);
      // A connection that is closing cannot be reset: Node would then never end.
      if (!reply) post.reset();
      outcomes.push(outcomeOf(reply, expected));
      return reply;
    };
    await ask();
    await ask({ [TIER_HEADER]: "edge" });
    const warm = await ask();
    const tight = (TIGHT * Number(warm?.headers[PREDICTED_HEADER] ?? 100)).toFixed(1);
    await ask({ [BUDGET_HEADER]: tight });
    await ask({ [TIER_HEADER]: "region" });
    await ask({ [BUDGET_HEADER]: tight });
    const count = (outcome: string) => outcomes.filter((each) => each === outcome).length;
    const lost = outcomes.filter((outcome) => outcome !== ANSWERED && outcome !== REFUSED);
    results.push({ name, asked, answered: count(ANSWERED), refused: count(REFUSED), lost });
  }
  return results;
}

const ANSWERED = "answered";
const REFUSED = "refused";

function outcomeOf(reply: Reply | undefined, expected: Embeddings): string {
  if (!reply) return "no answer";
  if (isRefusal(reply.status)) return REFUSED;
  if (reply.status !== 200) return `status ${reply.status}`;
  const { vectors, tokens, version } = embeddingsIn(reply);
  const isRight = (vector: Float32Array, i: number) => {
    const right = expected.vectors[i];
    const isUnit = Math.abs(Math.hypot(...vector) - 1) < MAX_NORM_ERROR;
    return vector.length === right?.length && isUnit && cosine(vector, right) >= MIN_COSINE;
  };
  if (tokens !== expected.tokens) return `${tokens} tokens`;
  if (version !== expected.version) return `version ${version}`;
  return vectors.length === expected.vectors.length && vectors.every(isRight) ? ANSWERED : "wrong vectors";
}

interface Embeddings {
  readonly vectors: readonly Float32Array[];
  readonly tokens: number;
  readonly version: string;
}

function embeddingsIn({ body }: Reply): Embeddings {
  const { embeddings, usage, version } = JSON.parse(body.toString()) as EmbedResponse;
  return { vectors: (embeddings as string[]).map(decodeFloats), tokens: usage.tokens, version };
}
