import { spawnSync } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Manifest } from "#sdk/artifact/manifest.ts";
import type { PrepareReport } from "#sdk/compile/commands/prepare.ts";
import manifest from "../sdk/package.json" with { type: "json" };
import { userProject } from "./e2e/project.ts";
import { bertEdge, type Outcome, startBertEdge } from "./fixtures/bert-edge-command.ts";
import { hubServer } from "./fixtures/hub-server.ts";
import { type ObjectStorage, startObjectStorage } from "./fixtures/object-storage.ts";
import { preparedTiny } from "./fixtures/prepared-tiny.ts";
import { runCommandLine } from "./fixtures/run-command-line.ts";
import { temporaryFolder } from "./fixtures/temporary-folder.ts";
import { writePreparableCheckpoint } from "./fixtures/tiny-bert.ts";

let folder: string;
let checkpoint: string;
let artifact: string;
let prepared: Outcome;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bert-edge-cli-"));
  checkpoint = join(folder, "checkpoint");
  artifact = join(folder, "artifact");
  await writePreparableCheckpoint(checkpoint);
  const args = ["prepare", checkpoint, "--out", artifact, "--name", "tiny", "--targets", "edge,regional-cpu", "--json"];
  prepared = await bertEdge(args);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

// Tests beside the sources run commands in their own process. Here is what needs a process, a network or several targets.
describe("the process of a command", () => {
  it("exits with 0, prints its result on stdout and its stages on stderr", async () => {
    expect(prepared.code).toBe(0);
    const { manifest } = JSON.parse(prepared.stdout) as PrepareReport;
    expect(manifest.name).toBe("tiny");
    expect(Object.keys(manifest.targets)).toEqual(["edge", "regional-cpu"]);
    expect(prepared.stderr).toContain("✓ read ");
    const files = await readdir(artifact);
    expect(files.sort()).toEqual([...Object.keys(manifest.files), "manifest.json", "measurements.json"].sort());
  });

  it("exits with 1 when it fails", async () => {
    const { code, stdout, stderr } = await bertEdge(["inspect", join(folder, "nowhere"), "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { error: { code: "onnx_missing" } }]);
    expect(stderr).toMatch(/^Error onnx_missing: .+\n {2}\S/m);
  });

  it("exits with 2 for wrong usage", async () => {
    const { code, stdout, stderr } = await bertEdge(["embed"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Error usage_invalid: The argument <artifact> is missing.");
  });

  it("reads stdin, and ends without an error when its reader closes the pipe", async () => {
    const child = startBertEdge(["embed", artifact]);
    const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
    const stderr = text(child.stderr);
    child.stdout.once("data", () => child.stdout.destroy());
    child.stdin.on("error", () => {});
    child.stdin.end("to be\n".repeat(2_000));
    expect([await closed, await stderr]).toEqual([0, ""]);
  });
});

describe("Node", () => {
  const running = (version: string) => {
    const set = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
    return [
      "--import",
      `data:text/javascript,${set}`,
      join(import.meta.dirname, "../sdk/bin/bert-edge.js"),
      "--version",
    ];
  };

  it.each(["18.20.0", "22.11.9"])("%s is refused, with the oldest version that works", (version) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, running(version), { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain(`bert-edge needs Node ${manifest.engines.node.slice(2)} or newer; this is ${version}.`);
  });

  it.each(["22.12.0", "23.0.0"])("%s is accepted", (version) => {
    expect(spawnSync(process.execPath, running(version)).status).toBe(0);
  });
});

describe("deploy, with wrangler", () => {
  it("plans without a login", async () => {
    const { root, remove } = await userProject();
    onTestFinished(remove);
    await writeFile(join(root, "secrets"), "API_KEYS=key-of-the-deployment\n");
    const config = join(root, "wrangler.toml");
    await writeFile(config, (await readFile(config, "utf8")).replace("bert-edge-mini", "tiny"));
    // Nobody is logged in here.
    const env = { HOME: root, XDG_CONFIG_HOME: root, CLOUDFLARE_API_TOKEN: "" };
    const args = ["deploy", "--model", artifact, "--secrets", "secrets", "--json", "--dry-run"];
    const { code, stdout, stderr } = await runCommandLine(args, { cwd: root, env });
    expect(code, stderr).toBe(0);
    const { steps } = JSON.parse(stdout) as { steps: { name: string; state: string; why?: string }[] };
    expect(steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
      "bucket unknown",
      "model unknown",
      "secrets unknown",
      "worker planned",
    ]);
    expect(steps[0]?.why).toBe("wrangler is not logged in to Cloudflare.");
    expect(stderr).toContain("Not looked at: wrangler is not logged in");
  });
});

describe("doctor", () => {
  it("tries the providers of onnxruntime-node", async () => {
    const { root, remove } = await userProject({ region: true });
    onTestFinished(remove);
    const { code, stdout } = await runCommandLine(["doctor", "--offline", "--json"], { cwd: root });
    expect(code).toBe(0);
    const { findings } = JSON.parse(stdout) as { findings: { check: string; where: string; level: string }[] };
    expect(findings).toContainEqual(expect.objectContaining({ check: "provider", where: "cpu", level: "ok" }));
    expect(findings).toContainEqual(
      expect.objectContaining({ check: "project", what: expect.stringContaining("functions/region.ts is its region") }),
    );
  });
});

describe("a model of the Hub", () => {
  it("is downloaded, optimized and prepared, and the report names its commit", async () => {
    const names = ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"];
    const contents = await Promise.all(
      names.map(async (name) => [name, await readFile(join(checkpoint, name))] as const),
    );
    const commit = "c".repeat(40);
    const hub = await hubServer({ "org/Tiny": { commit, files: Object.fromEntries(contents) } });
    const own = await temporaryFolder();
    const env = { HF_ENDPOINT: hub.endpoint, HF_HOME: own, HF_TOKEN: "" };
    const optimized = await runCommandLine(["optimize", "org/Tiny", join(own, "tiny.onnx"), "--json"], { env });
    expect(optimized).toMatchObject({ code: 0, stderr: expect.stringContaining("✓ download org/Tiny@ccccccc (") });
    expect(JSON.parse(optimized.stdout)).toMatchObject({ source: { name: "org/Tiny", commit, isOffline: false } });

    hub.requests.length = 0;
    const out = join(own, "artifact");
    const prepared = await runCommandLine(["prepare", `org/Tiny@${commit}`, "--out", out, "--fast"], { env });
    expect(prepared).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tiny@[0-9a-f]{12}: 16 dimensions/) });
    expect(prepared.stdout).toContain(`downloaded: org/Tiny@${commit}`);
    expect(hub.requests).toEqual([]);

    hub.fault = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    const offline = await runCommandLine(["prepare", "org/Tiny", "--out", out, "--fast"], { env });
    expect(offline.stdout).toContain(`downloaded: org/Tiny@${commit} (the Hub could not`);
  });
});

describe("quantize", () => {
  it("prints its report as one JSON document on stdout, and writes the model", async () => {
    const out = join(folder, "int8.onnx");
    const args = ["quantize", checkpoint, out, "--mode", "int8-blocks", "--tokenizer", checkpoint, "--json"];
    const { code, stdout, stderr } = await runCommandLine(args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ mode: "int8-blocks", kept: [], parity: { cases: 61 } });
    expect(stderr).toContain("✓ measure");
    expect((await stat(out)).size).toBeGreaterThan(1000);
  });
});

describe("embed", () => {
  const lines = ["to be", " or ", "not \u{1f389}"];
  const embed = async (from: string, ...args: string[]) => {
    const outcome = await runCommandLine(["embed", from, "--json", ...args], { stdin: `${lines.join("\n")}\n` });
    expect(outcome.code).toBe(0);
    return JSON.parse(outcome.stdout) as { vectors: number[][] };
  };

  it("uses onnxruntime-node for an artifact that has a target for it, unless --engine says otherwise", async () => {
    const [byDefault, native, edge] = [
      await embed(artifact),
      await embed(artifact, "--engine", "ort-node"),
      await embed(artifact, "--engine", "wasm"),
    ];
    expect(byDefault).toEqual(native);
    expect(edge).not.toEqual(native);
    for (const { vectors } of [native, edge]) {
      expect(vectors.map(({ length }) => length)).toEqual(lines.map(() => 16));
      for (const vector of vectors) expect(Math.abs(Math.hypot(...vector) - 1)).toBeLessThan(1e-6);
    }
    const copy = join(folder, "edge-alone");
    await cp(artifact, copy, { recursive: true });
    const { targets, ...rest } = JSON.parse(await readFile(join(copy, "manifest.json"), "utf8")) as Manifest;
    await writeFile(join(copy, "manifest.json"), JSON.stringify({ ...rest, targets: { edge: targets.edge } }));
    expect((await embed(copy)).vectors).toEqual(edge.vectors);
  });
});

describe("bench", () => {
  it("times every engine of an artifact, and stores the latencies", async () => {
    const copy = await temporaryFolder();
    await cp(artifact, copy, { recursive: true });
    const args = ["bench", copy, "--tokens", "4,16,64", "--rounds", "1"];
    const { code, stdout } = await runCommandLine([...args, "--json"]);
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as { engines: Record<string, { points: { tokens: number }[]; latency: object }> };
    expect(Object.keys(report.engines)).toEqual(["wasm", "ort-node"]);
    for (const { points } of Object.values(report.engines)) {
      expect(points.map(({ tokens }) => tokens)).toEqual([4, 16, 64]);
    }
    const stored = JSON.parse(await readFile(join(copy, "measurements.json"), "utf8"));
    expect(stored.edge.latency).toEqual(report.engines["wasm"]?.latency);
    expect(stored["regional-cpu"].latency).toEqual(report.engines["ort-node"]?.latency);
    const only = await runCommandLine([...args, "--engines", "ort-node", "--json"]);
    expect(Object.keys(JSON.parse(only.stdout).engines)).toEqual(["ort-node"]);
  });
});

describe("a bucket", () => {
  let s3: ObjectStorage;
  beforeAll(async () => {
    s3 = await startObjectStorage();
  });
  afterAll(() => s3?.stop());

  const inBucket = (args: readonly string[]) => {
    const { endpoint, accessKeyId, secretAccessKey, region } = s3.access;
    const env = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_REGION: region };
    return runCommandLine([...args, "--endpoint", endpoint], { env });
  };

  it("has versions that are listed, promoted, rolled back, read back, and removed when they are old", async () => {
    const place = `s3://${s3.access.bucket}/versions/`;
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await inBucket([...args, "--json"]);
      return { code, stderr, json: JSON.parse(stdout) };
    };
    const first = (await run("publish", artifact, "--to", place, "--verify")).json;
    expect(first.verifiedBytes).toBeGreaterThan(1_000);
    // Versions are sorted by the store's clock, which has whole seconds.
    await setTimeout(1_100);
    const second = (await run("publish", await preparedTiny(), "--to", place)).json;

    const versions = async () =>
      (await run("list", "--store", place)).json.map((each: Record<string, unknown>) => [
        each["version"],
        each["isCurrent"],
      ]);
    expect(await versions()).toEqual([
      [second.version, true],
      [first.version, false],
    ]);
    const back = await run("rollback", "tiny", "--store", place);
    expect(back.json).toEqual({ name: "tiny", version: first.version, before: second.version, comparable: true });
    expect((await run("rollback", "tiny", "--store", place)).json).toMatchObject({
      error: { code: "model_not_published" },
    });
    await setTimeout(1_100);
    expect((await run("promote", `tiny@${second.version}`, "--store", place)).code).toBe(0);
    expect(await versions()).toEqual([
      [second.version, true],
      [first.version, false],
    ]);
    expect((await run("gc", "--store", place, "--older-than", "1")).json).toEqual({
      ...{ dryRun: false, versions: [], objects: 0, bytes: 0, uploads: 0 },
    });
  });

  it("gets an artifact: one JSON document is on stdout, and each object on stderr", async () => {
    const place = `s3://${s3.access.bucket}/team-a/`;
    const args = ["publish", artifact, "--to", place];
    const first = await inBucket([...args, "--json"]);
    expect(first.code).toBe(0);
    const result = JSON.parse(first.stdout) as { version: string; uploaded: number };
    expect(result).toEqual({
      name: "tiny",
      version: expect.stringMatching(/^[0-9a-f]{12}$/),
      uploaded: expect.any(Number),
      reused: 0,
      bytes: expect.any(Number),
    });
    expect(first.stderr.match(/^uploaded blobs\/sha256\/[0-9a-f]{64}$/gm)).toHaveLength(result.uploaded);

    const again = await inBucket(args);
    expect(again.stdout).toBe(`tiny@${result.version} is current at ${place} (0 objects, 0.0 MB sent).\n`);
    expect(again.stderr.match(/^reused /gm)).toHaveLength(result.uploaded);
  });

  it("cannot be reached: exits with 1, and shows no secret", async () => {
    const args = ["publish", artifact, "--to", "s3://bucket", "--endpoint", "http://127.0.0.1:1", "--json"];
    const env = {
      ...{ AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "the-secret", AWS_REGION: "us-east-1" },
      AWS_MAX_ATTEMPTS: "1",
    };
    const { code, stdout, stderr } = await runCommandLine(args, { env });
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { error: { code: "storage_unavailable" } }]);
    expect(stderr).toContain("Error storage_unavailable");
    expect(stdout + stderr).not.toContain("the-secret");
  });
});
