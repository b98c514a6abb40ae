import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "#sdk/cli/dev/ports.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { fsStore } from "#sdk/storage/fs.ts";
import { publish } from "#sdk/storage/publish.ts";
import project from "../../package.json" with { type: "json" };
import { preparedDefault } from "../fixtures/prepared.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { cleanEnv } from "./clean-env.ts";
import { type Image, replayDockerfile } from "./dockerfile.ts";
import { type PublishedModel, publishedModel, UNIT_TOLERANCE } from "./published-model.ts";
import { type RunningImage, regionEnv, startImage } from "./running-image.ts";

const exec = promisify(execFile);

/**
 * Replaces `npm ci`, because tests have no network. First, a dry run of npm checks that the files that the Dockerfile
 * has copied so far are sufficient. Then the node_modules of this machine are copied. Files are hard-linked but folders
 * are not, so a build step that deletes files does not delete them on this machine.
 */
async function substituteInstall(command: string, folder: string): Promise<boolean> {
  if (!command.startsWith("npm ci")) return false;
  await exec("sh", ["-c", `${command} --dry-run --offline`], { cwd: folder, env: cleanEnv });
  await linkOrCopy("node_modules", folder);
  if (existsSync("sdk/node_modules")) await linkOrCopy("sdk/node_modules", join(folder, "sdk"));
  return true;
}

/** Makes hard links when both folders are on one disk. */
const linkOrCopy = (from: string, to: string) =>
  exec("sh", ["-c", 'cp -al "$1" "$2" || cp -a "$1" "$2"', "sh", from, to]);

/** Writes its arguments into a file, and makes the files that the packages have. */
const fakePip = `#!/bin/sh
printf '%s\n' "$@" > asked
mkdir -p packages/onnxruntime/capi packages/nvidia/cu13/lib packages/nvidia/cudnn/lib packages/nvidia/cu13/include
touch packages/onnxruntime/capi/libonnxruntime_providers_cuda.so packages/onnxruntime/capi/libonnxruntime_providers_shared.so \
  packages/onnxruntime/capi/libonnxruntime_providers_tensorrt.so packages/nvidia/cu13/include/cublas.h \
  packages/nvidia/cu13/lib/libcublas.so.13 packages/nvidia/cudnn/lib/libcudnn.so.9
`;

describe.runIf(process.platform === "linux")("the region's container image", () => {
  const key = crypto.randomUUID();
  let folder: string;
  let image: Image;
  let app: string;
  let model: PublishedModel | undefined;
  let region: RunningImage | undefined;
  let url: string;
  let port: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "bert-edge-image-"));
    image = await replayDockerfile({
      dockerfile: "infra/Dockerfile",
      context: process.cwd(),
      into: folder,
      env: cleanEnv,
      substitute: substituteInstall,
    });
    app = join(image.root, image.workdir);
    model = await publishedModel();
    region = await startImage(image, regionEnv(model, key));
    ({ url, port } = region);
  });

  afterAll(async () => {
    await region?.stop();
    await model?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("answers an embedding of unit length", async () => {
    const response = await fetch(`${url}/v1/embed`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ inputs: "to be or not to be" }),
    });

    expect(response.status).toBe(200);
    const { embeddings, tier } = (await response.json()) as { embeddings: number[][]; tier: string };
    expect(tier).toBe("region");
    expect(embeddings[0]).toHaveLength(model?.manifest.dimensions ?? 0);
    expect(Math.abs(Math.hypot(...(embeddings[0] ?? [])) - 1)).toBeLessThan(UNIT_TOLERANCE);
  });

  it("passes its own health check, which fails without a server", async () => {
    const [, ...args] = image.healthcheck;
    const check = (PORT: string) => exec(process.execPath, args, { env: { ...cleanEnv, ...image.env, PORT } });

    await expect(check(port)).resolves.toBeDefined();
    await expect(check(`${await freePort()}`)).rejects.toThrow();
  });

  it("can contain a model, from the one folder that .dockerignore admits for it", async () => {
    const context = await temporaryFolder();
    await cp(".dockerignore", join(context, ".dockerignore"));
    for (const name of ["models-folder", "other"]) {
      await mkdir(join(context, name));
      await writeFile(join(context, name, "manifest.json"), "{}");
    }
    const copied = async (name: string) => {
      const dockerfile = join(context, "Dockerfile");
      await writeFile(dockerfile, `FROM scratch\nWORKDIR /app\nCOPY ${name} ${name}\n`);
      const into = await temporaryFolder();
      const { root } = await replayDockerfile({
        ...{ dockerfile, context, into, env: cleanEnv, substitute: async () => false },
      });
      return readdir(join(root, "app", name));
    };
    expect(await copied("models-folder")).toEqual(["manifest.json"]);
    await expect(copied("other")).rejects.toThrow(".dockerignore excludes other");
  });

  it("runs the tests' version of Node, without root's rights, on port 8080", () => {
    expect(image.base).toBe(`node:${project.devDependencies.node}-slim`);
    expect(image.entrypoint[0]).toBe("node");
    expect(image.healthcheck[0]).toBe("node");
    expect(image.user).not.toBe("root");
    expect(image.env).toMatchObject({ PORT: "8080", PROVIDERS: "cpu", MALLOC_MMAP_THRESHOLD_: "1048576" });
  });

  it("contains only the bundle and onnxruntime for this platform", async () => {
    expect(await readdir(app)).toEqual(["dist", "node_modules"]);
    expect(await readdir(join(app, "node_modules"))).toEqual(["onnxruntime-common", "onnxruntime-node"]);
    const binaries = await readdir(join(app, "node_modules/onnxruntime-node/bin"), { recursive: true });
    const loaded = binaries.filter((file) => file.endsWith(".node"));
    expect(loaded).toEqual([expect.stringMatching(new RegExp(`/${process.platform}/${process.arch}/[^/]+$`))]);
  });

  it("answers SageMaker, which starts it with `serve` and puts the model into a folder", async () => {
    const models = await temporaryFolder();
    await publish(await openFolder(await preparedDefault()), fsStore(models));
    const env = { MODEL: "bert-edge-mini", MODELS_FOLDER: models, SAGEMAKER: "true" };
    const endpoint = await startImage(image, env, { args: ["serve"] });
    onTestFinished(() => endpoint.stop());

    expect((await fetch(`${endpoint.url}/ping`)).status).toBe(200);
    const body = JSON.stringify({ inputs: "to be or not to be" });
    const response = await fetch(`${endpoint.url}/invocations`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(response.status).toBe(200);
    expect(((await response.json()) as { embeddings: number[][] }).embeddings[0]).toHaveLength(
      model?.manifest.dimensions ?? 0,
    );
  });

  it.runIf(process.arch === "x64")(
    "gets the CUDA provider of its own version of onnxruntime from infra/Dockerfile.cuda",
    async () => {
      const programs = await temporaryFolder();
      await writeFile(join(programs, "pip"), fakePip, { mode: 0o755 });
      const into = await temporaryFolder();
      const cuda = await replayDockerfile({
        dockerfile: "infra/Dockerfile.cuda",
        context: process.cwd(),
        into,
        images: { "bert-edge-region": image },
        env: { ...cleanEnv, PATH: `${programs}:${cleanEnv.PATH}` },
        substitute: async () => false,
      });

      const { version } = JSON.parse(await readFile("node_modules/onnxruntime-node/package.json", "utf8"));
      const asked = await readFile(join(into, "provider/provider/asked"), "utf8");
      expect(asked.split("\n")).toContain(`onnxruntime-gpu[cuda,cudnn]==${version}`);

      const inImage = (path: string) => join(cuda.root, cuda.workdir, path);
      const binaries = await readdir(inImage("node_modules/onnxruntime-node/bin"), { recursive: true });
      const folder = binaries.find((path) => path.endsWith("/linux/x64")) ?? "";
      expect(await readdir(inImage(`node_modules/onnxruntime-node/bin/${folder}`))).toEqual([
        "libonnxruntime.so.1",
        "libonnxruntime_providers_cuda.so",
        "libonnxruntime_providers_shared.so",
        "onnxruntime_binding.node",
      ]);
      expect(await readdir(inImage("cuda"))).toEqual(["libcublas.so.13", "libcudnn.so.9"]);
      expect(cuda.env["LD_LIBRARY_PATH"]?.split(":")[0]).toBe(`${cuda.workdir}/cuda`);
      expect(cuda.env).toMatchObject({ PORT: "8080", PROVIDERS: "cuda,cpu" });
      expect(cuda).toMatchObject({ user: image.user, entrypoint: image.entrypoint, healthcheck: image.healthcheck });
    },
  );
});
