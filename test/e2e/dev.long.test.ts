import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, glob, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Manifest } from "#sdk/artifact/manifest.ts";
import { freePort } from "#sdk/cli/dev/ports.ts";
import { openProject } from "#sdk/cli/dev/project.ts";
import { startStack } from "#sdk/cli/dev/stack.ts";
import { BertEdge } from "#sdk/client/bert-edge.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { bertEdge, startBertEdge } from "../fixtures/bert-edge-command.ts";
import { writePreparableClassifier } from "../fixtures/classifier-case.ts";
import { preparedTiny } from "../fixtures/prepared-tiny.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { installedProject } from "../package/install.ts";
import { userProject } from "./project.ts";

const WAIT = { timeout: 30_000 };
let artifact: string;
beforeAll(async () => {
  artifact = await preparedTiny(["edge", "regional-cpu"]);
});

/** Lists the folders of `bert-edge dev` in a folder for temporary files. */
const foldersIn = async (tmp: string) => (await readdir(tmp)).filter((name) => /^bert-edge-(dev|r2)-/.test(name));

/** Lists the arguments of every process of this machine. */
async function argumentsOfProcesses(): Promise<string> {
  let all = "";
  for await (const path of glob("/proc/[0-9]*/cmdline")) all += await readFile(path, "utf8").catch(() => "");
  return all;
}

/** Returns the id of the process that runs a script, in a folder. Default: in any. */
async function pidOf(script: string, folder?: string): Promise<number> {
  for await (const path of glob("/proc/[0-9]*/cmdline")) {
    const text = await readFile(path, "utf8").catch(() => "");
    const args = text.split("\0");
    // The process that watches starts another one, which runs the script.
    if (!args.slice(1, 3).includes(script) || args.includes("--watch")) continue;
    const pid = path.split("/")[2] as string;
    if (folder === undefined || (await readlink(`/proc/${pid}/cwd`)) === folder) return Number(pid);
  }
  throw new Error(`No process runs ${script}.`);
}

/** Collects what a process prints. Returns a function that gives its whole output so far. */
function outputOf({ stdout, stderr }: { stdout: Readable; stderr: Readable }): () => string {
  let output = "";
  for (const stream of [stdout, stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return () => output;
}

describe.runIf(process.platform === "linux")("`bert-edge dev <artifact>` in a project without onnxruntime", () => {
  it("serves the edge alone, keeps secrets out of arguments, and leaves nothing behind at Ctrl-C", async () => {
    const tmp = await temporaryFolder();
    const root = await installedProject({ peers: false });
    onTestFinished(() => rm(root, { recursive: true, force: true }));
    for (const name of ["wrangler", "hono"])
      await symlink(join(process.cwd(), "node_modules", name), join(root, "node_modules", name));
    for (const path of ["functions", "wrangler.toml"]) await cp(path, join(root, path), { recursive: true });
    await rm(join(root, "functions/region.ts"));
    await cp(artifact, join(root, "models/tiny"), { recursive: true });

    const args = ["node_modules/bert-edge/bin/bert-edge.js", "dev", "models/tiny", "--port", `${await freePort()}`];
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, TMPDIR: tmp },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGINT"));
    const output = outputOf(child);
    const exit = once(child, "exit");
    await expect.poll(output, WAIT).toContain("Stop it with Ctrl-C");
    expect(output()).toMatch(/^The answer: a vector of 16 numbers: \[-?0\.\d{4}, /m);
    expect(output()).toContain(".dev.vars has no plain key in API_KEYS, so this key is new.");
    expect(output()).not.toMatch(/region|budget/);

    const [, url = "", key = ""] = /curl (\S+) .*?Bearer ([^']+)'/s.exec(output()) ?? [];
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ inputs: "to be" }),
    });
    expect(response.status).toBe(200);

    expect(await argumentsOfProcesses()).not.toContain(key);
    const [folder = ""] = await foldersIn(tmp);
    expect((await stat(join(tmp, folder))).mode & 0o777).toBe(0o700);
    expect((await stat(join(tmp, folder, "edge.env"))).mode & 0o777).toBe(0o600);

    child.kill("SIGINT");
    expect(await exit).toEqual([0, null]);
    expect(await foldersIn(tmp)).toEqual([]);
    expect(await argumentsOfProcesses()).not.toContain(root);
    await expect(fetch(url)).rejects.toThrow();
  });
});

describe.runIf(process.platform === "linux")("`bert-edge dev` while it serves", () => {
  it("prints what the Worker prints, and fails when wrangler ends by itself", async () => {
    const project = await userProject();
    onTestFinished(() => project.remove());
    const child = startBertEdge(["dev", artifact, "--port", `${await freePort()}`], { cwd: project.root });
    onTestFinished(() => void child.kill("SIGINT"));
    const output = outputOf(child);
    const exit = once(child, "exit");
    await expect.poll(output, WAIT).toContain("Stop it with Ctrl-C");
    // A late line about the first request can come before the last line of stdout. Lines about the start are left out.
    const before = output().split("Stop it with Ctrl-C")[0] ?? "";
    expect(before.split("\n").filter((line) => /^\[edge\](?!.* (?:POST \/v1\/embed|GET \/) )/.test(line))).toEqual([]);

    const [, url = ""] = /curl (\S+) /.exec(output()) ?? [];
    await writeFile(
      join(project.root, "functions/edge.ts"),
      'export default { fetch() { console.error("a fault\\nin the Worker"); return new Response(); } };',
    );
    await expect
      .poll(() => fetch(url).then(output, String), WAIT)
      .toMatch(/^\[edge\] .*a fault.*\n(\[edge\]\n)?\[edge\] .*in the Worker/m);

    process.kill(await pidOf(join(project.root, "node_modules/wrangler/bin/wrangler.js")), "SIGKILL");
    expect(await exit).toEqual([1, null]);
    expect(output()).toContain("Error service_failed: edge ended by itself.");
    expect(await argumentsOfProcesses()).not.toContain(project.root);
  });
});

it("`bert-edge dev` starts no region for an artifact that has no model for it", async () => {
  const project = await userProject({ region: true });
  onTestFinished(() => project.remove());
  const edgeAlone = join(project.root, "models/edge-alone");
  await cp(artifact, edgeAlone, { recursive: true });
  const { targets, ...rest } = JSON.parse(await readFile(join(edgeAlone, "manifest.json"), "utf8")) as Manifest;
  await writeFile(join(edgeAlone, "manifest.json"), JSON.stringify({ ...rest, targets: { edge: targets.edge } }));
  const args = ["dev", edgeAlone, "--once", "--port", `${await freePort()}`];
  const { code, stdout, stderr } = await bertEdge(args, { cwd: project.root });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/Each row is one request.*^tokens/ms) });
  expect(stdout).not.toContain("region");
  expect(stderr).toContain("The artifact has no regional target");
  expect(stderr).toContain('wrangler.toml says MODEL = "bert-edge-mini". Here the Worker serves tiny.');
});

it("`bert-edge dev <model folder>` prepares a classifier, serves it at the edge and in the region, and shows an answer", async () => {
  const project = await userProject({ region: true });
  onTestFinished(() => project.remove());
  await writePreparableClassifier(join(project.root, "models/topics"), ["no", "maybe", "yes"]);
  const args = ["dev", "models/topics", "--once", "--port", `${await freePort()}`];
  // Results of stages that other tests kept would be used instead.
  const env = { XDG_CACHE_HOME: join(project.root, "cache") };
  const { code, stdout, stderr } = await bertEdge(args, { cwd: project.root, env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("✓ quantize regional-cpu") });
  expect(stdout).toMatch(/topics@[0-9a-f]{12} is served at/);
  expect(stdout).toMatch(/curl \S+\/v1\/classify /);
  expect(stdout).toMatch(/The answer: .*"results": \[ \[ \{ "label": "(no|maybe|yes)", "score": 0\.\d+/);
  expect(await readdir(join(project.root, ".bert-edge/dev/topics"))).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
});

describe("a running stack", () => {
  it("serves several models, the first by default, takes the first key of .dev.vars, and runs edited functions of both tiers", async () => {
    const project = await userProject({ region: true });
    onTestFinished(() => project.remove());
    const key = "a$MODEL";
    await writeFile(join(project.root, ".dev.vars"), `API_KEYS=, ${key},c`);
    const other = await preparedTiny(["edge"], { name: "other" });
    const artifacts = [await openFolder(artifact), await openFolder(other)];
    const stack = await startStack({ project: openProject(project.root), artifacts });
    onTestFinished(() => stack.stop());
    expect([stack.edge.key, stack.keyIsNew]).toEqual([key, false]);
    const edge = new BertEdge({ baseURL: stack.edge.url, apiKey: key });
    expect(await edge.embed("to be")).toMatchObject({ model: "tiny", tier: "edge" });
    expect(await edge.embed("to be", { model: "other" })).toMatchObject({ model: "other", tier: "edge" });
    expect(await edge.embed("to be", { tier: "region" })).toMatchObject({ model: "tiny", tier: "region" });
    const embed = (key: string) =>
      fetch(`${stack.edge.url}/v1/embed`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ inputs: "to be" }),
      });
    expect((await embed(key)).status).toBe(200);
    expect((await embed("other")).status).toBe(401);

    const hello = (url = "") => fetch(`${url}/hello`).then((answer) => answer.text(), String);
    expect(await hello(stack.edge.url)).not.toBe("hello");
    expect(await hello(stack.region?.url)).not.toBe("hello");

    const functions = join(project.root, "functions");
    await cp(join(functions, "edge.ts"), join(functions, "original.ts"));
    await writeFile(
      join(functions, "edge.ts"),
      `import app from "./original.ts";
       const hello = (request: Request) => new URL(request.url).pathname === "/hello";
       export default {
         fetch: (request: Request, ...rest: never[]) => hello(request) ? new Response("hello") : app.fetch(request, ...rest),
       };`,
    );
    const region = await readFile(join(functions, "region.ts"), "utf8");
    const route = 'app.get("/hello", (c) => c.text("hello"));\n';
    await writeFile(join(functions, "region.ts"), region.replace("/** Entry point", `${route}/** Entry point`));

    await expect.poll(() => hello(stack.edge.url), WAIT).toBe("hello");
    await expect.poll(() => hello(stack.region?.url), WAIT).toBe("hello");
  });

  it("serves its region on this machine only, and starts it again when its process is killed", async () => {
    const project = await userProject({ region: true });
    onTestFinished(() => project.remove());
    const lines: string[] = [];
    const stack = await startStack({
      project: openProject(project.root),
      artifacts: [await openFolder(artifact)],
      onOutput: (service, line) => lines.push(`${service}: ${line}`),
    });
    onTestFinished(() => stack.stop());
    const { url = "" } = stack.region ?? {};
    const health = (at: string) =>
      fetch(`${at}/health`).then(
        (answer) => answer.status,
        () => undefined,
      );
    expect(await health(url)).toBe(200);
    // A server that listens on all interfaces answers at each of them, and at each address of the loopback network.
    const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
    const own = addresses.filter(({ family, address }) => family === "IPv4" && address !== "127.0.0.1");
    for (const { address } of [{ address: "127.0.0.2" }, ...own])
      expect(await health(url.replace("127.0.0.1", address)), address).toBeUndefined();

    process.kill(await pidOf("functions/region.ts", project.root), "SIGKILL");
    await expect.poll(() => lines, WAIT).toContain("region: The region has ended. It starts again in 0.5 s.");
    await expect.poll(() => health(url), WAIT).toBe(200);
    const edge = new BertEdge({ baseURL: stack.edge.url, apiKey: stack.edge.key });
    const tier = () => edge.embed("to be", { tier: "region" }).then((answer) => answer.tier, String);
    await expect.poll(tier, WAIT).toBe("region");
  });

  it("names the fault of a region that does not start, and stops the edge", async () => {
    const project = await userProject({ region: true });
    onTestFinished(() => project.remove());
    await writeFile(join(project.root, "functions/region.ts"), 'throw new Error("no region today");\n');
    const port = await freePort();
    const starting = startStack({ project: openProject(project.root), artifacts: [await openFolder(artifact)], port });
    await expect(starting).rejects.toMatchObject({
      code: "service_failed",
      message: expect.stringContaining("no region today"),
    });
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
  });

  it("says at once that a Worker has other routes than those of createEdgeApp", async () => {
    const project = await userProject();
    onTestFinished(() => project.remove());
    const worker = 'export default { fetch: () => new Response("no route", { status: 404 }) };\n';
    await writeFile(join(project.root, "functions/edge.ts"), worker);
    const starting = startStack({ project: openProject(project.root), artifacts: [await openFolder(artifact)] });
    await expect(starting).rejects.toMatchObject({
      code: "service_failed",
      message: expect.stringMatching(/^The Worker runs, but GET \/ready answers 404/),
      hint: expect.stringContaining("--to r2-local:bert-edge-models"),
    });
  });

  it("shows at once why its code cannot be bundled: a module that does not exist, and a syntax error", async () => {
    const project = await userProject();
    onTestFinished(() => project.remove());
    const edge = join(project.root, "functions/edge.ts");
    await writeFile(join(project.root, "functions/wrong.ts"), "const a = = 1;\n");
    await writeFile(edge, `${await readFile(edge, "utf8")}import "./nowhere.ts";\nimport "./wrong.ts";\n`);
    const starting = startStack({ project: openProject(project.root), artifacts: [await openFolder(artifact)] });
    await expect(starting).rejects.toMatchObject({
      code: "service_failed",
      message: expect.stringMatching(/(?=.*Could not resolve "\.\/nowhere\.ts")(?=.*Unexpected "=")/s),
    });
  });
});
