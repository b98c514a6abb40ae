import { BertEdgeError } from "../../artifact/error.ts";
import { PREPARE_AGAIN } from "../../artifact/manifest.ts";
import type { Model } from "../../runtime/model.ts";
import { ask } from "./ask.ts";
import { againstGolden, cosineLimit } from "./compare-golden.ts";
import { expectedAnswer } from "./expected-answer.ts";
import { failureOf } from "./failure.ts";
import type { RegionConnection } from "./region-connection.ts";
import type { RegionTiming } from "./region-settings.ts";

/** The model that the edge serves, with its golden texts. */
export type ProvableModel = Pick<Model, "version" | "manifest" | "golden">;

/** Age at which a golden check is repeated, in ms: another model can be deployed behind the same URL. */
const REPEAT_MS = 600_000;

/** Pause between two attempts, in ms. */
const RETRY_MS = 1_000;

/** Pause after a golden check has failed, in ms. Until somebody deploys another model, it would fail again. */
const REFUSED_MS = 60_000;

/** Makes the golden check: whether a foreign region computes the same vectors as the edge's model. */
export function goldenCheck(
  connection: RegionConnection,
  { timeoutMs, now }: Required<Pick<RegionTiming, "timeoutMs" | "now">>,
) {
  let proven: { version: string; cosine: number; at: number } | undefined;
  let pausedUntil = Number.NEGATIVE_INFINITY;

  const unusable = (why: string, hint = "Deploy a region of bert-edge."): BertEdgeError =>
    new BertEdgeError("region_failed", `The region at ${connection.host} is not used: ${why}.`, { hint });

  /** Returns the worst cosine of the region's vectors with the model's own. */
  async function compare({ version, manifest, golden }: ProvableModel): Promise<number> {
    const { name: model } = manifest;
    if (manifest.task !== "embed") throw unusable(`it can only embed, but ${model} has the task ${manifest.task}`);
    if (manifest.poolsPrompt === false && manifest.defaultPrompt !== undefined) {
      throw unusable(`${model} leaves its default prompt out of the pooling, which only regions of bert-edge do`);
    }
    const known = await golden();
    if (!known) throw unusable(`${model}@${version} has no golden texts to compare it with`, PREPARE_AGAIN);
    const { texts: inputs } = known;
    const expected = expectedAnswer({ manifest, version }, { inputs: inputs.length, inRegionMs: 0, onlyOurs: false });
    const signal = AbortSignal.timeout(timeoutMs);
    const { outputs } = await ask(connection, { inputs, truncate: false }, { expected, headers: {}, signal });
    const { cosine, fault } = againstGolden(known, outputs, manifest, cosineLimit(manifest));
    if (fault) throw unusable(fault.what, fault.hint);
    return cosine;
  }

  return {
    /** Returns the worst cosine of the golden texts; undefined until the region has passed the check for this version. */
    cosine: (version: string) => (proven?.version === version ? proven.cosine : undefined),
    /** Whether the region should be asked for the golden texts now. */
    isDue: ({ version }: ProvableModel) =>
      now() >= pausedUntil && (proven?.version !== version || now() - proven.at >= REPEAT_MS),
    /** Runs the check, and logs why a region fails it. Throws the error of `ask` if the region does not work at all. */
    async prove(model: ProvableModel): Promise<void> {
      pausedUntil = now() + RETRY_MS;
      try {
        proven = { version: model.version, cosine: await compare(model), at: now() };
      } catch (cause) {
        const { isAlive, kind, error, waitMs } = failureOf(cause, connection);
        if (!isAlive && kind !== "wrong") throw cause;
        // A busy region keeps its last result: it has not returned other vectors.
        if (waitMs > 0) return;
        if (error.code === "region_failed") {
          proven = undefined;
          pausedUntil = now() + REFUSED_MS;
        }
        console.error(`bert-edge: ${error.message} ${error.hint}`);
      }
    },
    /** Forgets the result. A region that was down can come back with another model. */
    forget() {
      proven = undefined;
    },
  };
}
