import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type EmbedManifest, sentenceEncoder } from "#sdk/artifact/manifest.ts";
import { once } from "#sdk/artifact/once.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel, type TextModel } from "#sdk/compile/model/text-model.ts";
import { calibrationTexts } from "#sdk/compile/quantize/calibration/calibration-texts.ts";
import type { TokenIds } from "#sdk/runtime/engine/engine.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { isRun, python, type Run, runTool } from "../run-tool.ts";
import { installTransformers } from "../transformers/install.ts";

interface Given {
  /** Folder of the checkpoint. */
  readonly model: string;
  /** Folder for files. It has the float32 model as model.onnx, unless there is no Python. */
  readonly folder: string;
  /** Python with the packages that the forms need. */
  readonly interpreter: string;
}

/** The files and tools from which the forms are made. */
export interface Subject extends Given {
  /** Folder of the artifact. */
  readonly artifact: string;
  readonly manifest: EmbedManifest;
  readonly config: TextModel["config"];
  /** The float32 model as ONNX. */
  readonly exported: string;
  /** File with the token ids of the calibration texts. */
  readonly calibration: string;
  /** Runs a script of this folder's parent in Python. Returns its report. */
  readonly tool: (script: string, ...args: string[]) => Promise<Run["report"]>;
  /** Installs transformers.js with the float32 model and model_quantized.onnx. Returns the folder. */
  readonly installed: () => Promise<string>;
}

/** Prepares the artifact, and returns the files and tools from which the forms are made. */
export async function openSubject({ model, folder, interpreter }: Given): Promise<Subject> {
  const exported = join(folder, "model.onnx");
  const artifact = join(folder, "artifact");
  await prepare({ model, out: artifact, name: "measured", targets: ["edge", "regional-cpu"] });
  const { encode, config } = await readTextModel(await describeModel(model));
  const calibration = join(folder, "calibration.json");
  const ids = encode(calibrationTexts) as TokenIds[];
  await writeFile(calibration, JSON.stringify(ids.map((each) => [...each])));

  const tool: Subject["tool"] = async (script, ...args) => {
    const outcome = await runTool(python(script, interpreter), args);
    if (isRun(outcome)) return outcome.report;
    throw new Error(outcome.failure);
  };
  const installed = once(async () => {
    const place = join(folder, "transformers.js");
    const quantized = join(folder, "model_quantized.onnx");
    // As transformers.js' own script converts a BERT: https://github.com/huggingface/transformers.js/blob/main/scripts/convert.py
    await tool("quantize.py", exported, quantized, "--per-channel", "--reduce-range");
    await mkdir(place);
    await installTransformers(place, model, [exported, quantized]);
    return place;
  });
  const { manifest } = await openFolder(artifact);
  return {
    ...{ model, folder, interpreter, artifact, config, exported, calibration, tool, installed },
    manifest: sentenceEncoder(manifest),
  };
}
