import { existsSync } from "node:fs";
import { constants, copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { runCommand } from "#test/fixtures/run-command.ts";
import { PACKAGE, VERSION } from "./engines.ts";

/**
 * Returns the float32 ONNX file of a model folder, with its external data.
 *
 * @throws Error if there is none
 */
export async function onnxFiles(model: string): Promise<string[]> {
  for (const folder of [model, join(model, "onnx")]) {
    if (!existsSync(join(folder, "model.onnx"))) continue;
    const onnx = await readFile(join(folder, "model.onnx"));
    // External data is named in the ONNX file. It can be model.safetensors.
    const names = (await readdir(folder)).filter((name) => name === "model.onnx" || onnx.includes(name));
    return names.filter((name) => !name.endsWith(".json")).map((name) => resolve(folder, name));
  }
  throw new Error(`${model} has no model.onnx, which transformers.js runs. Export the model with Optimum.`);
}

/**
 * Installs transformers.js into a folder, and puts a model into models/measured, as it expects it there.
 *
 * @param model folder of the checkpoint
 * @param onnx ONNX files with their external data: model.onnx, and forms such as model_quantized.onnx
 */
export async function installTransformers(folder: string, model: string, onnx: readonly string[]): Promise<void> {
  await writeFile(join(folder, "package.json"), '{"private": true}');
  // The install script of onnxruntime-node only downloads CUDA libraries.
  await runCommand(folder, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", `${PACKAGE}@${VERSION}`);
  const target = join(folder, "models/measured");
  await mkdir(join(target, "onnx"), { recursive: true });
  for (const name of (await readdir(model)).filter((each) => each.endsWith(".json"))) {
    await copyFile(join(model, name), join(target, name));
  }
  // onnxruntime refuses external data behind a link. Where the file system can, the copy shares its bytes.
  for (const path of onnx) {
    await copyFile(path, join(target, "onnx", basename(path)), constants.COPYFILE_FICLONE);
  }
}
