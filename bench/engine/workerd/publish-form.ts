import { describeFiles } from "#sdk/artifact/describe-file.ts";
import { versionOf } from "#sdk/artifact/keys.ts";
import type { Parity, Target } from "#sdk/artifact/manifest.ts";
import { sha256Hex } from "#sdk/artifact/sha256.ts";
import { comparedAs, parity } from "#sdk/compile/accuracy/parity.ts";
import { probeTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import type { Encoded } from "#sdk/compile/lower/encode-program.ts";
import type { TextModel } from "#sdk/compile/model/text-model.ts";
import { manifestOf } from "#sdk/compile/stages/assemble-artifact.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { oneModel } from "#sdk/runtime/engine/engine.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { storedArtifact } from "#sdk/storage/stored-artifact.ts";
import type { Form, Subject } from "../subject.ts";
import type { ModelStore } from "./model-store.ts";

const MODEL = "model.bin";
const PAGES = "pages.bin";

export interface Publication extends Pick<Target, "engine" | "precision"> {
  readonly subject: Subject;
  readonly form: Form;
  /** Name of the model in the store. */
  readonly name: string;
}

/**
 * Publishes one form of a model. The form becomes the `edge` target of the artifact.
 *
 * @returns the parity of the form with float32
 */
export async function publishForm(publication: Publication, store: Pick<ModelStore, "publish">): Promise<Parity> {
  const { subject, form, name, ...target } = publication;
  const { model } = subject;
  const agreement = parity(
    await computed(subject, "fp32", "ort-node", probeTexts),
    await computed(subject, form, target.engine, probeTexts),
    comparedAs(model.task, model.config.vocabularySize),
  );
  await publishEncoded({ model, encoded: await subject.encoded(form), name, ...target, parity: agreement }, store);
  return agreement;
}

/** A model in one form, with its name in the store. */
interface EncodedModel extends Omit<Target, "model" | "pages"> {
  readonly model: TextModel;
  readonly encoded: Encoded;
  readonly name: string;
}

/** Publishes a model whose `edge` target is `encoded`. */
export async function publishEncoded(
  { model, encoded: { file, pages }, name, ...target }: EncodedModel,
  store: Pick<ModelStore, "publish">,
): Promise<void> {
  const files = new Map([...model.tokenizer.files, [MODEL, file]]);
  if (pages) files.set(PAGES, pages);
  const targets = { edge: { ...target, model: MODEL, ...(pages && { pages: [PAGES] }) } };
  const manifest = manifestOf(name, model, await describeFiles(files), targets);
  const manifestBytes = new TextEncoder().encode(JSON.stringify(manifest));
  const version = versionOf(await sha256Hex(manifestBytes));
  const artifact = storedArtifact(memoryStore(files), { manifest, version, measurements: {} });
  await store.publish({ ...artifact, manifestBytes });
}

/** Computes the vectors of texts in this process. */
export async function computed(
  { model, encoded }: Subject,
  form: Form,
  engine: Target["engine"],
  texts: readonly string[],
): Promise<Float32Array[]> {
  const { file, pages } = await encoded(form);
  const session = await (await engineOnThisMachine(engine)).load(oneModel(file, pages));
  try {
    return await model.compute(session, texts);
  } finally {
    await session.release();
  }
}
