import { existsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Target, TargetName } from "../../artifact/manifest.ts";
import { readSafetensors } from "../../artifact/safetensors.ts";
import { readModelFile } from "../../runtime/engine/wasm/load/model-file.ts";
import type { Step } from "../../runtime/engine/wasm/ops/index.ts";
import { MANIFEST_FILE, openFolder } from "../../storage/folder-artifact.ts";
import { acceptableKeys } from "../checkpoint/modules/accepted-keys.ts";
import { type FileKeys, folderKeys } from "../checkpoint/modules/ledger.ts";
import { withWorkFolder } from "../files/folders.ts";
import { wholeFile } from "../files/whole-file.ts";
import type { ExcusedParts } from "../fusions/unfused-parts.ts";
import { type Outline, outline, outlineOf } from "../graph/outline.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import type { UnfusedReason } from "../rewrite/trace.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { fuse } from "../stages/fuse.ts";
import { locateModel } from "../stages/locate-model.ts";
import { readSource } from "../stages/read.ts";
import { type RunOptions, startRun } from "../stages/stage.ts";

export interface InspectOptions extends RunOptions {
  /** Path of an ONNX file, a Hugging Face model folder or an artifact folder, or a model of the Hugging Face Hub. */
  model: string;
}

/** A model before and after fusion. */
export interface InspectedModel {
  readonly kind: "model";
  readonly before: Outline;
  readonly after: Outline;
  /** Number of nodes for each fused operator, by operator name. */
  readonly fused: Readonly<Record<string, number>>;
  /** Why parts of the graph are not fused. */
  readonly reasons: readonly UnfusedReason[];
  /** Parts that are not fused because onnxruntime has no operator for them. */
  readonly excused: readonly ExcusedParts[];
  /** Keys of a model folder's files, and what becomes of each; empty for an ONNX file. */
  readonly keys: readonly FileKeys[];
}

/** A model folder that is refused, because it needs a computation that is not supported. */
export interface RefusedModel {
  readonly kind: "refused";
  readonly keys: readonly FileKeys[];
  readonly refusal: Pick<BertEdgeError, "code" | "message" | "hint">;
}

/** An artifact. Describes what each target runs: a graph, or the steps of the edge engine's program. */
export interface InspectedArtifact {
  readonly kind: "artifact";
  readonly name: string;
  readonly version: string;
  /** Unknown keys of the model's folder that were accepted when it was prepared. */
  readonly acceptedKeys: readonly string[];
  readonly targets: Readonly<Partial<Record<TargetName, InspectedTarget>>>;
}

export interface InspectedTarget extends Pick<Target, "engine" | "precision" | "model"> {
  readonly outline: Outline;
}

export type InspectReport = InspectedModel | RefusedModel | InspectedArtifact;

/**
 * Reads a model and fuses it, or reads the models of an artifact. Writes nothing, and runs nothing. A model
 * folder that is refused is described by its keys.
 *
 * @throws BertEdgeError `aborted`, `manifest_invalid`, `model_invalid`, and the errors of `locateModel` and `readModelSource`
 */
export async function inspect({ model, ...options }: InspectOptions): Promise<InspectReport> {
  if (existsSync(join(model, MANIFEST_FILE))) return inspectArtifact(model);
  return withWorkFolder(tmpdir(), async (folder) => {
    const { run } = startRun(options, folder);
    const { path } = await locateModel(run, model, folder);
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
    const keys = isFolder ? await folderKeys(path) : [];
    // Accepts all unknown keys: no artifact is made of the model, and the report lists the keys.
    const read = await run(readSource, { path, acceptKeys: acceptableKeys(keys) }).catch((error: unknown) => {
      if (error instanceof BertEdgeError && error.code === "checkpoint_unsupported" && isFolder) return error;
      throw error;
    });
    if (read instanceof BertEdgeError) {
      const { code, message, hint } = read;
      return { kind: "refused", keys, refusal: { code, message, hint } };
    }
    const { graph: original } = read;
    inferShapes(original);
    const { graph, fused, reasons, excused } = await run(fuse, { graph: original });
    inferShapes(graph);
    return { kind: "model", before: outlineOf(original), after: outlineOf(graph), fused, reasons, excused, keys };
  });
}

async function inspectArtifact(folder: string): Promise<InspectedArtifact> {
  const { manifest, version } = await openFolder(folder);
  const targets: Partial<Record<TargetName, InspectedTarget>> = {};
  for (const [name, { engine, precision, model }] of Object.entries(manifest.targets) as [TargetName, Target][]) {
    const path = join(folder, model);
    const found =
      engine === "wasm"
        ? programOutline(await wholeFile(path, manifest.files[model]?.size ?? 0))
        : await graphOutline(path);
    targets[name] = { engine, precision, model, outline: found };
  }
  return { kind: "artifact", name: manifest.name, version, acceptedKeys: manifest.acceptedKeys ?? [], targets };
}

async function graphOutline(path: string): Promise<Outline> {
  const graph = fromOnnx(await readOnnx(path));
  inferShapes(graph);
  return outlineOf(graph);
}

const operatorOf = (step: Step): string =>
  step.op === "linearInt8" && step.group ? `${step.op} in 4 bits (groups of ${step.group})` : step.op;

/** Describes the steps of a program. A step names its tensors in its properties. */
function programOutline(file: Uint8Array): Outline {
  const { program } = readModelFile(file);
  const { tensors } = readSafetensors(file, (fault) => new BertEdgeError("model_invalid", `The model file: ${fault}.`));
  let weightBytes = 0;
  const nodes = program.steps.map((step) => {
    const names = Object.values(step).filter((value) => typeof value === "string");
    const weights = names.flatMap((name) => {
      const tensor = tensors.get(name);
      return tensor ? [{ type: `${tensor.dtype}[${tensor.shape.join(", ")}]`, bytes: tensor.end - tensor.begin }] : [];
    });
    weightBytes += weights.reduce((sum, { bytes }) => sum + bytes, 0);
    const result = "out" in step ? program.values[step.out] : undefined;
    return {
      operator: operatorOf(step),
      weights,
      result: result ? `${result.type}[${result.of}s, ${result.width}]` : "nothing",
    };
  });
  return outline(nodes, weightBytes);
}
