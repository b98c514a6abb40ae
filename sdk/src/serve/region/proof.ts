import { BertEdgeError } from "../../artifact/error.ts";
import { PREPARE_AGAIN } from "../../artifact/manifest.ts";
import type { Model } from "../../runtime/model.ts";
import { ask, type RegionRefusal, RegionRefused } from "./ask.ts";
import { compareGolden } from "./compare-golden.ts";
import { expectedAnswer } from "./expected-answer.ts";
import type { RegionConnection } from "./region-connection.ts";

/** The model that the edge serves, with its golden texts. */
export type ProvableModel = Pick<Model, "version" | "manifest" | "golden">;

/** Age at which a proof is repeated, in ms: another model can be deployed behind the same URL. */
const REPEAT_MS = 600_000;

/** Pause between two attempts, in ms. */
const RETRY_MS = 1_000;

/** Pause after a region has returned other vectors, in ms. Only a person can change that. */
const REFUSED_MS = 60_000;

export interface ProofOptions {
  readonly connection: RegionConnection;
  /** Timeout of the region's answer, in ms. */
  readonly timeoutMs: number;
  readonly now: () => number;
}

/** Knows whether a foreign region computes the same vectors as the edge's model. */
export interface Proof {
  /** Returns the worst cosine of the golden texts; undefined while it is not proven that the region runs this version. */
  cosine(version: string): number | undefined;
  /** Whether the region should be asked for the golden texts now. */
  isDue(model: ProvableModel): boolean;
  /**
   * Asks the region for the golden texts, and logs why it is refused.
   *
   * @throws the error of a region that fails, or has no time
   */
  prove(model: ProvableModel): Promise<void>;
  /** Forgets the proof. A region that has failed can come back with another model. */
  forget(): void;
}

export function goldenProof({ connection, timeoutMs, now }: ProofOptions): Proof {
  const { host } = connection.transport;
  let proven: { version: string; cosine: number; at: number } | undefined;
  let pausedUntil = Number.NEGATIVE_INFINITY;

  /** @returns the worst cosine */
  async function compare({ version, manifest, golden }: ProvableModel): Promise<number> {
    const { name: model } = manifest;
    if (manifest.task !== "embed") {
      throw new BertEdgeError(
        "region_failed",
        `The region at ${host} is not used: it can embed, but ${model} has the task ${manifest.task}.`,
        { hint: "Deploy a region of bert-edge." },
      );
    }
    const { normalize } = manifest;
    if (manifest.poolsPrompt === false && manifest.defaultPrompt !== undefined) {
      throw new BertEdgeError(
        "region_failed",
        `The region at ${host} is not used: ${model} leaves its default prompt out of the pooling, which only regions of bert-edge do.`,
        { hint: "Deploy a region of bert-edge." },
      );
    }
    const known = await golden();
    if (!known) {
      throw new BertEdgeError(
        "region_failed",
        `The region at ${host} is not used: ${model}@${version} has no golden texts to compare it with.`,
        { hint: PREPARE_AGAIN },
      );
    }
    const { texts } = known;
    const call = { inputs: texts.length, inRegionMs: 0, onlyOurs: false };
    const { outputs } = await ask(
      connection,
      { inputs: texts, truncate: false, model, normalize },
      {
        expected: expectedAnswer({ manifest, version }, call),
        headers: {},
        signal: AbortSignal.timeout(timeoutMs),
      },
    );
    return compareGolden(known, outputs, manifest, host);
  }

  return {
    cosine: (version) => (proven?.version === version ? proven.cosine : undefined),
    isDue({ version }) {
      return now() >= pausedUntil && (proven?.version !== version || now() - proven.at >= REPEAT_MS);
    },
    async prove(model) {
      pausedUntil = now() + RETRY_MS;
      try {
        proven = { version: model.version, cosine: await compare(model), at: now() };
      } catch (error) {
        const { error: reason, isAlive, waitMs } = error instanceof RegionRefused ? error.refusal : alive(error);
        if (!isAlive) throw reason;
        // A region without time for the golden texts is still the one that has proven itself.
        if (waitMs > 0) return;
        if (reason.code === "region_failed") {
          proven = undefined;
          pausedUntil = now() + REFUSED_MS;
        }
        console.error(`bert-edge: ${reason.message} ${reason.hint}`);
      }
    },
    forget() {
      proven = undefined;
    },
  };
}

/** Describes an error after an answer has arrived. All other errors are thrown again. */
function alive(error: unknown): RegionRefusal {
  if (error instanceof BertEdgeError) return { error, isAlive: true, waitMs: 0 };
  throw error;
}
