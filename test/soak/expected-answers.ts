import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { wholeModel } from "#sdk/runtime/start-model.ts";
import type { Shot } from "./shot.ts";

/** Characters in which requests of the same kind and length differ. */
const KEY_LENGTH = 4_000;

const engines = { edge: "wasm", region: "ort-node" } as const;

/** Computes answers in this process, with the engine of each tier. */
export interface ExpectedAnswers extends AsyncDisposable {
  /** @returns what is wrong with the answer of a tier; undefined if it is that of the computation in this process */
  compare(shot: Shot, tier: string, content: unknown): Promise<string | undefined>;
}

/** Loads all models for both tiers. All versions of a model have the same weights. */
export async function expectedAnswers(artifacts: readonly PublishableArtifact[]): Promise<ExpectedAnswers> {
  await using stack = new AsyncDisposableStack();
  const models = new Map<string, Awaited<ReturnType<typeof wholeModel>>>();
  for (const [tier, engine] of Object.entries(engines)) {
    for (const artifact of artifacts) {
      const model = stack.use(await wholeModel(artifact, await engineOnThisMachine(engine)));
      models.set(`${artifact.manifest.name} ${tier}`, model);
    }
  }
  const known = new Map<string, Promise<unknown>>();
  const loaded = stack.move();
  return {
    async compare({ kind, model, body, expected }, tier, content) {
      const local = models.get(`${model} ${tier}`);
      if (!expected || !local) return `${kind}: there is no model ${model} at ${tier}`;
      const name = `${model} ${tier} ${kind} ${body.length} ${body.slice(0, KEY_LENGTH)}`;
      if (!known.has(name)) known.set(name, local.call(expected.call));
      const wanted = await known.get(name);
      const found = expected.found(content as never);
      if (isSame(found, wanted)) return undefined;
      const [got, instead] = [found, wanted].map((result) => JSON.stringify(result).slice(0, 200));
      return `${kind} of ${model} at ${tier}: ${got}, and not ${instead}`;
    },
    [Symbol.asyncDispose]: () => loaded.disposeAsync(),
  };
}

/** Other versions of V8 compute the last bits of `Math.exp` in other ways. It makes float64 scores of the model's float32 numbers. */
const EXP_ERROR = 1e-12;

/** Whether results are the same: vectors bit by bit, and scores up to the error of `Math.exp`. */
function isSame(found: unknown, wanted: unknown): boolean {
  if (typeof found === "number" && typeof wanted === "number")
    return Math.abs(found - wanted) <= EXP_ERROR * Math.abs(wanted);
  if (found instanceof Float32Array && wanted instanceof Float32Array)
    return found.length === wanted.length && found.every((value, i) => Object.is(value, wanted[i]));
  if (typeof found !== "object" || found === null) return found === wanted;
  const [a, b] = [Object.entries(found), Object.entries(Object(wanted))];
  return a.length === b.length && a.every(([key, value]) => isSame(value, Object(wanted)[key]));
}
