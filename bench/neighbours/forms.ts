import { join } from "node:path";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { python } from "../run-tool.ts";
import { VERSION } from "../transformers/engines.ts";
import type { FormResult, Versions } from "./results.ts";
import type { Subject } from "./subject.ts";

/** A form that is ready to start. */
interface MadeForm {
  readonly command: readonly string[];
  /** Files of the model. */
  readonly files: readonly string[];
  readonly versions?: Versions;
}

/** A way to run the model. */
export interface Form extends Pick<FormResult, "id" | "title" | "precision"> {
  /** @throws Error if a tool fails */
  readonly make: (subject: Subject) => Promise<MadeForm>;
}

/** What Python needs for all forms and for the true vectors. */
export const PACKAGES = ["torch", "sentence-transformers>=6", "onnx", "onnxruntime", "openvino", "nncf"];

const child = (...args: readonly string[]): string[] => [
  process.execPath,
  join(import.meta.dirname, "child.ts"),
  ...args,
];

const ours = (id: "edge" | "region", target: "edge" | "regional-cpu"): Form => ({
  ...{ id, title: `bert-edge, ${id}`, precision: "int8" },
  make: async ({ artifact, manifest }) => ({
    command: child(id, artifact),
    files: [join(artifact, manifest.targets[target]?.model as string)],
  }),
});

/** The edge target in a model file of at most some megabytes: weights have 4 bits where they lose least. */
const inMegabytes = (megabytes: number): Form => ({
  ...{ id: `edge-${megabytes}`, title: `bert-edge, edge in ${megabytes} MB`, precision: "int4" },
  async make({ model, folder }) {
    const out = join(folder, `edge-${megabytes}`);
    await prepare({ model, out, name: "measured", targets: ["edge"], maxSize: megabytes * 1e6 });
    const { manifest } = await openFolder(out);
    return { command: child("edge", out), files: [join(out, manifest.targets.edge?.model as string)] };
  },
});

const onnxruntime = (id: string, title: string, ...options: string[]): Form => ({
  ...{ id, title, precision: "int8" },
  async make({ folder, exported, config, manifest, tool }) {
    const file = join(folder, `${id}.onnx`);
    const sizes = ["--heads", `${config.heads}`, "--width", `${config.hiddenSize}`];
    // The optimizer leaves types out, which the quantization then needs.
    const all = ["--optimize", ...sizes, "--default-float32", ...options];
    const { version } = await tool("quantize.py", exported, file, ...all);
    return {
      command: child("onnx", file, exported, manifest.pooling),
      files: [file],
      versions: { "onnxruntime (Python)": version },
    };
  },
});

const transformers = (id: string, title: string, dtype: "q8" | "fp32", file: string): Form => ({
  ...{ id, title, precision: dtype === "q8" ? "int8" : "float32" },
  async make({ installed, manifest }) {
    const place = await installed();
    return {
      command: child("transformers", place, dtype, manifest.pooling),
      files: [join(place, "models/measured/onnx", file)],
      versions: { "transformers.js": VERSION },
    };
  },
});

const openvino = (mode: "weights" | "static", title: string): Form => ({
  ...{ id: `openvino-${mode}`, title, precision: "int8" },
  async make({ folder, exported, calibration, interpreter, manifest, tool }) {
    const file = join(folder, `openvino-${mode}.xml`);
    const { versions } = await tool("neighbours/openvino_quantize.py", exported, file, mode, calibration);
    return {
      command: [...python("neighbours/openvino_child.py", interpreter), file, manifest.pooling],
      files: [file, file.replace(/xml$/, "bin")],
      versions,
    };
  },
});

export const forms: readonly Form[] = [
  ours("edge", "edge"),
  inMegabytes(16),
  inMegabytes(13.5),
  ours("region", "regional-cpu"),
  onnxruntime("onnxruntime-tensor", "onnxruntime, per tensor"),
  onnxruntime("onnxruntime-channel", "onnxruntime, per channel", "--per-channel"),
  transformers("transformers-q8", "transformers.js, q8", "q8", "model_quantized.onnx"),
  openvino("weights", "OpenVINO, int8 weights"),
  openvino("static", "OpenVINO, static int8"),
  transformers("transformers-fp32", "transformers.js, float32", "fp32", "model.onnx"),
];
