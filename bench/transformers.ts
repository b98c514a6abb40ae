// Measures a sentence encoder beside transformers.js, which is installed from a registry: one text at a time, in turns, on one thread.
//
//     npm run bench:transformers -- <folder with model.onnx and the files of the checkpoint>
import { cp, mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { table } from "#sdk/cli/output.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { loadArtifact } from "#sdk/runtime/load-published.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { runCommand } from "#test/fixtures/run-command.ts";

const PACKAGE = "@huggingface/transformers";
const ROUNDS = 40;
const WARM_UP = 3;

type Embed = (text: string) => Promise<Float32Array>;
interface Transformers {
  readonly env: { localModelPath: string; allowRemoteModels: boolean };
  pipeline(
    task: "feature-extraction",
    model: string,
    options: object,
  ): Promise<(text: string, options: object) => Promise<{ data: Float32Array }>>;
}

const words = "the cat sat on the mat and looked at the house while rain fell on the old streets of the town".split(
  " ",
);
const texts = [4, 30, 120].map((length) => Array.from({ length }, (_, i) => words[i % words.length]).join(" "));

const [model = ""] = process.argv.slice(2);
await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-transformers-"));
const peer = await transformers(model, folder.path);
const out = join(folder.path, "artifact");
await prepare({ model, out, name: "measured", targets: ["edge", "regional-cpu"] });
const artifact = await openFolder(out);
const ours = async (engine: "wasm" | "ort-node"): Promise<Embed> => {
  const loaded = await loadArtifact(artifact, await engineOnThisMachine(engine));
  return async (text) => (await loaded.embed([text]))[0] ?? new Float32Array();
};
const runs = {
  "transformers.js, float32": peer,
  "edge, WebAssembly": await ours("wasm"),
  "region, CPU": await ours("ort-node"),
};

const rows: string[][] = [];
for (const text of texts) {
  const times = new Map(Object.keys(runs).map((name) => [name, [] as number[]]));
  const vectors = new Map<string, Float32Array>();
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    for (const [name, embed] of Object.entries(runs)) {
      const start = performance.now();
      vectors.set(name, await embed(text));
      if (round >= WARM_UP) times.get(name)?.push(performance.now() - start);
    }
  }
  const exact = vectors.get("transformers.js, float32") ?? new Float32Array();
  for (const [name, measured] of times) {
    const median = measured.sort((a, b) => a - b)[ROUNDS >> 1] ?? 0;
    const agreement = cosine(vectors.get(name) ?? exact, exact).toFixed(5);
    rows.push([`${text.split(" ").length} words`, name, `${median.toFixed(2)} ms`, agreement]);
  }
}
console.log(table(["text", "engine", "median", "cosine to float32"], rows));

/** Installs transformers.js, and opens the float32 model with it. */
async function transformers(model: string, folder: string): Promise<Embed> {
  await writeFile(join(folder, "package.json"), '{"private": true}');
  // The install script of onnxruntime-node only downloads CUDA libraries.
  await runCommand(folder, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE);
  const models = join(folder, "models");
  await mkdir(join(models, "measured/onnx"), { recursive: true });
  await cp(model, join(models, "measured"), { recursive: true });
  await cp(model, join(models, "measured/onnx"), { recursive: true });
  const entry = createRequire(join(folder, "package.json")).resolve(PACKAGE);
  const { env, pipeline } = (await import(pathToFileURL(entry).href)) as Transformers;
  Object.assign(env, { localModelPath: `${models}/`, allowRemoteModels: false });
  const options = { dtype: "fp32", session_options: { intraOpNumThreads: 1 } };
  const extract = await pipeline("feature-extraction", "measured", options);
  return async (text) => (await extract(text, { pooling: "mean", normalize: true })).data;
}
