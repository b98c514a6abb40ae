import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare, type V4WorkerOptions } from "miniflare";
import { afterAll, beforeAll } from "vitest";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { r2Publisher, type WritableR2Bucket } from "#sdk/storage/r2-publisher.ts";
import { fencesOf } from "../docs/fences.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";
import { workerModules } from "../fixtures/worker-modules.ts";

const compatibilityDate = "2026-11-01";

/** Finds an example of the docs by a part of its code. */
export function exampleOf(page: string, part: string): string {
  const found = fencesOf(page).find(({ code }) => code.includes(part));
  if (!found) throw new Error(`${page} has no example with ${part}.`);
  return found.code;
}

/** Replaces `declare const name: EdgeAppOptions<…>;` by the options of `functions/edge.ts`. */
export const withOptions = (code: string): string =>
  `import { wasmEngine as engine } from "bert-edge/engine/wasm";
import relaxed from "bert-edge/kernels/relaxed.wasm";
import simd from "bert-edge/kernels/simd.wasm";
import { settings as shared } from "./functions/edge-settings.ts";
${code.replace(/declare const (\w+): EdgeAppOptions<\w+>;/, "const $1 = { ...shared, engine: engine({ relaxed, simd }) };")}`;

interface ExampleModel {
  name: string;
  /** Writes the folder of the model. */
  write(folder: string): Promise<void>;
}

/** Prepares a small model, an encoder named bert-edge-mini by default, and starts Workers whose bucket MODELS has it. */
export function exampleWorkers(
  { name, write }: ExampleModel = { name: "bert-edge-mini", write: writePreparableCheckpoint },
) {
  let folder: string;
  let artifact: Awaited<ReturnType<typeof openFolder>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "bert-edge-example-"));
    const [model, out] = [join(folder, "checkpoint"), join(folder, "artifact")];
    await write(model);
    await prepare({ model, out, name, targets: ["edge"] });
    artifact = await openFolder(out);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** @param others Workers to which the first one is bound */
  return async (code: string, options: Partial<V4WorkerOptions>, others: V4WorkerOptions[] = []) => {
    const modules = await workerModules({ stdin: { contents: code, loader: "ts", resolveDir: process.cwd() } });
    const main = { modules, modulesRoot: "/", ...options } as V4WorkerOptions;
    const workers = [main, ...others].map((each) => ({ ...each, r2Buckets: ["MODELS"], compatibilityDate }));
    const worker = new Miniflare(convertV4MiniflareOptions({ workers, host: "127.0.0.1", port: 0 }));
    await publish(artifact, r2Publisher((await worker.getR2Bucket("MODELS")) as unknown as WritableR2Bucket));
    return worker;
  };
}
