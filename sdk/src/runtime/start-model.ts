import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { parseGolden } from "../artifact/golden.ts";
import type { GoldenTexts } from "../artifact/manifest.ts";
import { outputWidth } from "../artifact/output-width.ts";
import { totalLength } from "../artifact/total-length.ts";
import { areFinite } from "./are-finite.ts";
import { assertFits, assertTokenizerFits, notOfManifest } from "./assert-fits.ts";
import type { Engine, EngineSession, TokenIds, TokenSequence } from "./engine/engine.ts";
import { runFailed } from "./engine/engine-error.ts";
import { idsOf } from "./engine/token-sequence.ts";
import type { Model, ModelOutputs } from "./model.ts";
import { modelFilesOf } from "./model-files.ts";
import { encodedCall, encoderOf } from "./tasks/encoded-call.ts";
import type { EncodedCall, ModelCall, TaskCall } from "./tasks/task-call.ts";
import { isPerToken, neededOutput, taskOutput, vectorHead } from "./tasks/task-output.ts";
import { loadTokenizer } from "./tokenizer/load-tokenizer.ts";
import type { Tokenizer } from "./tokenizer/tokenizer.ts";

/**
 * Reads an artifact's tokenizer and starts `engine` with its model file. The engine may still be reading the rest of the
 * file when the returned promise resolves; see `Model.complete`.
 *
 * @throws BertEdgeError `target_missing`, `engine_mismatch`, `engine_failed`, `tokenizer_invalid`,
 *   `artifact_corrupt`, `model_invalid`, and the errors of reading files
 */
export async function startModel(artifact: Artifact, engine: Engine): Promise<Model> {
  const { manifest } = artifact;
  const loading = engine.load(modelFilesOf(artifact, engine.name));
  const both = Promise.all([loadTokenizer(manifest, artifact.read), loading]);
  const [tokenizer, session] = await both.catch(async (error: unknown) => {
    await loading.then(
      (loaded) => loaded.release(),
      () => {},
    );
    throw error;
  });

  try {
    assertTokenizerFits(manifest, tokenizer);
    if (session.shape) assertFits(manifest, session.shape);
  } catch (error) {
    await session.release();
    throw error;
  }
  return modelOf(artifact, tokenizer, session);
}

/** Starts a model, and waits until all of it is loaded. @throws BertEdgeError the errors of `startModel` */
export async function wholeModel(artifact: Artifact, engine: Engine): Promise<Model & AsyncDisposable> {
  const model = await startModel(artifact, engine);
  try {
    await model.complete;
  } catch (error) {
    await releaseModel(model);
    throw error;
  }
  return { ...model, [Symbol.asyncDispose]: () => model.release() };
}

/**
 * Makes a model from a loaded tokenizer and a session.
 *
 * @param artifact describes the model; `golden` reads the golden texts from it
 */
export function modelOf(
  { manifest, version, measurements, read }: Pick<Artifact, "manifest" | "version" | "measurements" | "read">,
  tokenizer: Tokenizer,
  session: EngineSession,
): Model {
  const { name } = manifest;
  const head = vectorHead(manifest);
  const width = outputWidth(manifest, manifest.vocabulary);

  function encode<R, Part>(call: ModelCall<R, Part>): EncodedCall<R> {
    const encodeInput = encoderOf(call, { tokenizer, manifest });
    return encodedCall(
      call,
      call.inputs.map((input, index) => encodeInput(input, index)),
    );
  }

  const ready = async (sequences: readonly TokenSequence[]) => session.ready?.(sequences);

  async function run(sequences: readonly TokenSequence[], now = () => performance.now()): Promise<ModelOutputs> {
    await ready(sequences);
    const start = now();
    const results = await session.run(sequences, head).catch((cause: unknown) => {
      throw cause instanceof BertEdgeError ? cause : runFailed(`${name}@${version}`, session.provider, cause);
    });
    const computeMs = now() - start;
    const ids = sequences.map(idsOf);
    results.forEach(({ length }, i) => {
      const expected = width * (isPerToken(manifest) ? (ids[i] as TokenIds).length : 1);
      if (length !== expected) throw notOfManifest("length of an output", expected, length, name);
    });
    if (!results.every(areFinite)) {
      throw new BertEdgeError(
        "vector_invalid",
        `${name}@${version} computed NaN or infinite values on ${session.provider}.`,
        { hint: "Run `bert-edge verify` on the artifact to see which target is wrong." },
      );
    }
    const outputs = results.map((result, i) =>
      neededOutput(manifest, taskOutput(manifest, result), ids[i] as TokenIds),
    );
    return { outputs, tokens: totalLength(ids), computeMs };
  }

  const { complete = Promise.resolve() } = session;
  let isComplete = session.complete === undefined;
  complete.then(
    () => {
      isComplete = true;
    },
    () => {},
  );

  async function call<R>(wanted: TaskCall<R>): Promise<R> {
    const { sequences, decode } = encode(wanted.on(manifest));
    return decode((await run(sequences)).outputs);
  }

  async function golden(): Promise<GoldenTexts | undefined> {
    if (manifest.golden === undefined || manifest.task !== "embed") return undefined;
    return parseGolden(await read(manifest.golden), manifest.dimensions, `${name}@${version}`);
  }

  return {
    manifest,
    version,
    measurements,
    tokenizer,
    target: session.target,
    provider: session.provider,
    passedOver: session.passedOver ?? [],
    parallel: session.parallel ?? 1,
    batches: session.batches,
    ready,
    pageReads: (sequences) => session.pageReads?.(sequences) ?? 0,
    complete,
    isComplete: () => isComplete,
    call,
    encode,
    run,
    golden,
    memoryBytes: () => session.memoryBytes(),
    release: () => session.release(),
  };
}

/** Releases a model. Logs an error instead of throwing it, because a memory leak must not make a request or load fail. */
export async function releaseModel(model: Model): Promise<void> {
  try {
    await model.release();
  } catch (error) {
    console.error(`bert-edge: releasing ${model.manifest.name}@${model.version} failed:`, error);
  }
}
