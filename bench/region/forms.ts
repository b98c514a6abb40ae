import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as ort from "onnxruntime-node";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { copyGraph } from "#sdk/compile/graph/copy-graph.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel, type TextModel } from "#sdk/compile/model/text-model.ts";
import { withVectorOutput } from "#sdk/compile/model/vector-output.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import type { RegionPrecision } from "#sdk/compile/stages/make-target.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type EngineSession, oneModel, type VectorHead } from "#sdk/runtime/engine/engine.ts";
import { VECTOR_OUTPUT } from "#sdk/runtime/engine/ort-run.ts";
import { vectorHead } from "#sdk/runtime/tasks/task-output.ts";

/** A model in all forms, as sessions that return vectors. */
export interface Forms extends AsyncDisposable {
  readonly model: TextModel;
  readonly head: VectorHead;
  readonly names: readonly string[];
  readonly sessions: ReadonlyMap<string, EngineSession>;
  /** The file of `int8-mixed`. */
  readonly mixed: Uint8Array<ArrayBuffer>;
}

/**
 * Prepares a sentence encoder in all forms.
 *
 * @param place folder for the artifacts
 */
export async function openForms(folder: string, place: string): Promise<Forms> {
  const model = await readTextModel(await describeModel(folder));
  const head = vectorHead(model.task) as VectorHead;
  const files = {
    edge: await prepared(folder, place, "edge"),
    "int8-blocks": await prepared(folder, place, "int8-blocks"),
    "int8-mixed": await prepared(folder, place, "int8-mixed"),
    int8: await prepared(folder, place, "int8"),
  };
  const fused = copyGraph(model.graph);
  await fuseGraph(fused);
  const float32 = encodeOnnx(withVectorOutput(fused, head));
  const load = async (name: "wasm" | "ort-node", file: Uint8Array<ArrayBuffer>) =>
    asVectors(await (await engineOnThisMachine(name)).load(oneModel(file)), head);
  const sessions = new Map<string, EngineSession>([
    ["float32", await load("ort-node", float32)],
    ["int8-blocks", await load("ort-node", files["int8-blocks"])],
    ["int8-mixed", await load("ort-node", files["int8-mixed"])],
    ["int8-mixed, bare call", await bare(files["int8-mixed"])],
    ["int8", await load("ort-node", files.int8)],
    ["edge", await load("wasm", files.edge)],
  ]);
  return {
    ...{ model, head, names: [...sessions.keys()], sessions, mixed: files["int8-mixed"] },
    async [Symbol.asyncDispose]() {
      for (const session of sessions.values()) await session.release();
    },
  };
}

async function prepared(
  model: string,
  place: string,
  form: "edge" | RegionPrecision,
): Promise<Uint8Array<ArrayBuffer>> {
  const target = form === "edge" ? form : "regional-cpu";
  const { manifest } = await prepare({
    ...{ model, name: "model", out: join(place, form), targets: [target], timingRounds: 1 },
    ...(form !== "edge" && { regionPrecision: form }),
  });
  const file = manifest.targets[target]?.model as string;
  return new Uint8Array(await readFile(join(place, form, file)));
}

const asVectors = (session: EngineSession, head: VectorHead): EngineSession => ({
  ...session,
  run: (sequences) => session.run(sequences, head),
});

/** A session that calls onnxruntime-node directly. Its inputs are made once for each text. */
async function bare(file: Uint8Array<ArrayBuffer>): Promise<EngineSession> {
  const session = await ort.InferenceSession.create(file, { intraOpNumThreads: 1 });
  const feedsOf = new Map<string, Record<string, ort.Tensor>>();
  return {
    ...{ provider: "cpu", target: "regional-cpu", batches: (all) => [[...all.keys()]] },
    async run(sequences) {
      const vectors: Float32Array<ArrayBuffer>[] = [];
      for (const sequence of sequences) vectors.push(await vectorOf(sequence as Int32Array));
      return vectors;
    },
    memoryBytes: () => undefined,
    release: () => session.release(),
  };

  async function vectorOf(ids: Int32Array): Promise<Float32Array<ArrayBuffer>> {
    let feeds = feedsOf.get(`${ids}`);
    if (!feeds) {
      const int64 = (value: (id: number) => number) =>
        new ort.Tensor(
          "int64",
          BigInt64Array.from(ids, (id) => BigInt(value(id))),
          [1, ids.length],
        );
      const all: Record<string, ort.Tensor> = {
        input_ids: int64((id) => id),
        attention_mask: int64(() => 1),
        token_type_ids: int64(() => 0),
      };
      feeds = Object.fromEntries(session.inputNames.map((name) => [name, all[name] as ort.Tensor]));
      feedsOf.set(`${ids}`, feeds);
    }
    const output = (await session.run(feeds, [VECTOR_OUTPUT]))[VECTOR_OUTPUT];
    return output?.data as Float32Array<ArrayBuffer>;
  }
}
