import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { loadModel } from "#sdk/local/load-model.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";

const TEXT = "to be or not to be";

/** Prints a vector as hexadecimal digits. The program's last argument is the folder of an artifact. */
const EMBED = `
const hex = async (options) => {
  const model = await loadModel(process.env.ARTIFACT, options);
  const [vector] = (await model.embed(${JSON.stringify(TEXT)})).embeddings;
  await model[Symbol.asyncDispose]();
  return Buffer.from(vector.buffer).toString("hex");
};`;

/** Small programs, by name. Each takes its artifact from the environment variable ARTIFACT, and prints one line. */
const programs = {
  /** A model in this process. */
  embed: `import { loadModel } from "bert-edge";${EMBED}
hex().then(console.log);`,
  /** A model on two threads. */
  pool: `import { readFileSync } from "node:fs";
import { loadModel } from "bert-edge";
import { wasmPoolEngine } from "bert-edge/engine/wasm-pool";${EMBED}
const simd = new WebAssembly.Module(readFileSync(process.env.ARTIFACT + "/simd.wasm"));
hex({ engine: wasmPoolEngine({ simd, threads: 2 }) }).then(console.log);`,
  /** Catalogue and kernels of the compiler load; a call that needs a subprocess says what to do. */
  compile: `import { prepare } from "bert-edge/compile";
const { ARTIFACT } = process.env;
prepare({ model: ARTIFACT + "/../checkpoint", out: ARTIFACT + "/../out", name: "tiny", targets: ["edge"] }).then(
  () => console.log("prepared"),
  ({ code, message, hint }) => console.log(JSON.stringify({ code, message, hint })),
);`,
  /** A model on the engine of an optional package, in threads of its own. */
  peers: `import { loadModel } from "bert-edge";
import { ortNodeEngine } from "bert-edge/engine/ort-node";${EMBED}
hex({ engine: ortNodeEngine({ sessions: 2 }) }).then(console.log, ({ code, message, hint }) =>
  console.log(JSON.stringify({ code, message, hint })),
);`,
} as const;

export type Program = keyof typeof programs;

/**
 * Writes the programs into a project, and an artifact beside them.
 *
 * @returns the vector that Node computes, as hexadecimal digits, and the environment of the programs
 */
export async function writePrograms(folder: string): Promise<{ vector: string; env: NodeJS.ProcessEnv }> {
  const artifact = join(folder, "artifact");
  await writePreparableCheckpoint(join(folder, "checkpoint"));
  await prepare({ model: join(folder, "checkpoint"), out: artifact, name: "tiny", targets: ["edge", "regional-cpu"] });
  await cp(join(import.meta.dirname, "../../sdk/dist/kernels/simd.wasm"), join(artifact, "simd.wasm"));
  await mkdir(join(folder, "built"), { recursive: true });
  for (const [name, text] of Object.entries(programs)) await writeFile(join(folder, `${name}.mjs`), text);
  await using model = await loadModel(artifact);
  const [vector] = (await model.embed(TEXT)).embeddings;
  return {
    vector: Buffer.from((vector as Float32Array<ArrayBuffer>).buffer).toString("hex"),
    env: { ...process.env, ARTIFACT: artifact },
  };
}
