import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type EngineSession, oneModel } from "#sdk/runtime/engine/engine.ts";
import { openPadded } from "./padded.ts";
import type { Form, Subject } from "./subject.ts";

/** A model that is loaded in an engine, on one thread. */
export interface Encoder extends Pick<EngineSession, "run" | "release"> {
  readonly name: string;
}

/** An engine, and the forms of a model that it runs in a comparison. The fastest form counts. */
export interface Rival {
  readonly name: string;
  readonly forms: readonly Form[];
  open(file: Uint8Array<ArrayBuffer>): Promise<Pick<EngineSession, "run" | "release">>;
}

const alone =
  (engine: "wasm" | "ort-web" | "ort-node"): Rival["open"] =>
  async (file) =>
    (await engineOnThisMachine(engine)).load(oneModel(file));

/** Our engine with one form of a model. */
export const ours = (form: Form, name = "bert-edge"): Rival => ({ name, forms: [form], open: alone("wasm") });

const webForms = ["int8", "int8, not fused", "int8-blocks"] as const;
export const web: Rival = { name: "onnxruntime-web int8", forms: webForms, open: alone("ort-web") };
export const webPadded: Rival = { name: "onnxruntime-web int8, padded", forms: webForms, open: openPadded };
export const float32: Rival = { name: "onnxruntime-node float32", forms: ["fp32"], open: alone("ort-node") };
export const node: Rival = { name: "onnxruntime-node int8, fused", forms: ["int8"], open: alone("ort-node") };

export const openAll = ({ forms, open }: Rival, subject: Subject): Promise<Encoder[]> =>
  Promise.all(forms.map(async (form) => ({ ...(await open(await subject.file(form))), name: form })));
