import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { fsStore } from "#sdk/storage/fs.ts";
import { publish } from "#sdk/storage/publish.ts";
import { type Image, replayDockerfile } from "../e2e/dockerfile.ts";
import { startImage } from "../e2e/running-image.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";
import { runIn } from "../scaffold/terminal.ts";
import { type Checks, outputOf } from "./checks.ts";

const exec = promisify(execFile);

const NAME = "tiny";

/** Runs the steps of both Dockerfiles here, and starts both images as SageMaker does. */
export async function checkImages(checks: Checks, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { check, skip } = checks;
  skip("docker build, and the base images", "the steps run with the Node, the Python and the shell of this machine");
  const replay = (dockerfile: string, into: string, images: Readonly<Record<string, Image>>) =>
    replayDockerfile({
      ...{ dockerfile, context: process.cwd(), into: join(folder, into), images },
      env: env as Record<string, string>,
      substitute: async () => false,
    });

  const cpu = await check("steps of infra/Dockerfile", () => replay("infra/Dockerfile", "image-cpu", {}));
  if (!cpu) return;
  const models = join(folder, "models");
  await check("a model, prepared and published into a folder", () => publishTiny(folder, models));
  await check("the image answers /ping and /invocations on its CPU", () => invoke(cpu, models));

  if (process.arch !== "x64") return skip("infra/Dockerfile.cuda", `its base is for x64, not ${process.arch}`);
  const cuda = await check("steps of infra/Dockerfile.cuda", () =>
    replay("infra/Dockerfile.cuda", "image-cuda", { "bert-edge-region": cpu }),
  );
  if (!cuda) return;
  await check("libraries of the CUDA provider are complete", () => assertLinked(cuda));
  await check("the CUDA image answers /ping and /invocations", async () => {
    for (const line of await invoke(cuda, models)) console.log(`         ${line}`);
  });
  if (existsSync("/dev/nvidia0")) return;
  skip("the CUDA image on a GPU", "this machine has no NVIDIA driver");
  if ((await runIn(folder, ["cc", "--version"])).code !== 0)
    return skip("the CUDA provider with an empty driver", "there is no cc");
  await check("the CUDA provider loads, and asks an empty driver for its version", async () => {
    const driver = await emptyDriver(folder);
    const log = await invoke(cuda, models, [driver]);
    const asked = "CUDA driver version is insufficient";
    if (!log.some((line) => line.includes(asked))) throw new Error(`It did not ask:\n${log.join("\n")}`);
  });
}

/** Compiles a driver that has only the function that onnxruntime's CUDA provider links. Returns its folder. */
async function emptyDriver(folder: string): Promise<string> {
  await writeFile(join(folder, "driver.c"), "int cuTensorMapEncodeTiled(void) { return 1; }\n");
  await outputOf(folder, ["cc", "-shared", "-Wl,-soname,libcuda.so.1", "-o", "libcuda.so.1", "driver.c"], {});
  return folder;
}

async function publishTiny(folder: string, models: string): Promise<void> {
  const [model, out] = [join(folder, "checkpoint"), join(folder, "artifact")];
  await writePreparableCheckpoint(model);
  await prepare({ model, out, name: NAME, targets: ["regional-cpu", "regional-gpu"] });
  await publish(await openFolder(out), fsStore(models));
}

/**
 * Starts an image as SageMaker does, and sends it a text. Returns what it wrote.
 *
 * @param drivers folders with libraries of the host
 */
async function invoke(image: Image, models: string, drivers: readonly string[] = []): Promise<string[]> {
  const log: string[] = [];
  const path = [libraries(image), ...drivers].join(":");
  const env = { MODEL: NAME, MODELS_FOLDER: models, SAGEMAKER: "true", LD_LIBRARY_PATH: path };
  const region = await startImage(image, env, { args: ["serve"], onOutput: (line) => log.push(line) });
  try {
    const ping = await fetch(`${region.url}/ping`);
    const response = await fetch(`${region.url}/invocations`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ inputs: "to be or not to be" }),
    });
    if (!ping.ok || !response.ok) throw new Error(`/ping: ${ping.status}, /invocations: ${await response.text()}`);
    const { embeddings } = (await response.json()) as { embeddings: number[][] };
    if (Math.abs(Math.hypot(...(embeddings[0] ?? [])) - 1) > 1e-3) throw new Error(`The vector is ${embeddings[0]}.`);
    return log;
  } finally {
    await region.stop();
  }
}

/** The image's search path for libraries, in the folder that represents its `/`. */
const libraries = ({ env, root }: Image): string =>
  (env["LD_LIBRARY_PATH"] ?? "")
    .split(":")
    .filter(Boolean)
    .map((path) => join(root, path))
    .join(":");

/** @throws Error if the CUDA provider needs a library that neither the image nor the NVIDIA driver has */
async function assertLinked(image: Image): Promise<void> {
  const app = join(image.root, image.workdir);
  const { stdout: found } = await exec("find", [
    app,
    "-name",
    "libonnxruntime_providers_*.so",
    "-o",
    "-name",
    "libcudnn*",
  ]);
  for (const path of found.trim().split("\n")) {
    const { stdout } = await exec("ldd", [path], { env: { ...process.env, LD_LIBRARY_PATH: libraries(image) } });
    const missing = stdout.split("\n").filter((line) => line.includes("not found") && !line.includes("libcuda.so.1 "));
    if (missing.length > 0) throw new Error(`${path}:\n${missing.join("\n")}`);
  }
}
