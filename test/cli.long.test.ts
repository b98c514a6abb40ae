import { spawnSync } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Manifest } from "#sdk/artifact/manifest.ts";
import type { OptimizeReport } from "#sdk/compile/commands/optimize.ts";
import type { PrepareReport } from "#sdk/compile/commands/prepare.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { assetsFolder } from "#sdk/storage/assets-folder.ts";
import { fsStore } from "#sdk/storage/fs.ts";
import { openPublished, readPointer } from "#sdk/storage/published-artifact.ts";
import manifest from "../sdk/package.json" with { type: "json" };
import { userProject } from "./e2e/project.ts";
import { bertEdge, type Outcome, startBertEdge } from "./fixtures/bert-edge-command.ts";
import { hubServer } from "./fixtures/hub-server.ts";
import { NamedGraph } from "./fixtures/named-graph.ts";
import { type ObjectStorage, startObjectStorage } from "./fixtures/object-storage.ts";
import { temporaryFolder } from "./fixtures/temporary-folder.ts";
import { writePreparableCheckpoint } from "./fixtures/tiny-bert.ts";

let folder: string;
let checkpoint: string;
let artifact: string;
let prepared: Outcome;
let s3: ObjectStorage;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bert-edge-cli-"));
  checkpoint = join(folder, "checkpoint");
  artifact = join(folder, "artifact");
  await writePreparableCheckpoint(checkpoint);
  const args = ["prepare", checkpoint, "--out", artifact, "--name", "tiny", "--targets", "edge,regional-cpu", "--json"];
  [s3, prepared] = await Promise.all([startObjectStorage(), bertEdge(args)]);
});
afterAll(async () => {
  await s3?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What commands with --json print on stdout when they fail. */
const errorJson = (code: string) => expect.stringMatching(new RegExp(`^\\{\n {2}"error": \\{\n {4}"code": "${code}",`));

describe("wrong usage", () => {
  it.each([
    ["no command", []],
    ["an unknown command", ["surgeon"]],
    ["an unknown error code", ["explain", "input_bad"]],
    ["an unknown shell", ["completion", "tcsh"]],
    ["an unknown option", ["--frobnicate"]],
    ["an unknown option of a command", ["prepare", "x", "--out", "y", "--frobnicate"]],
    ["a missing argument", ["embed"]],
    ["too many arguments", ["embed", "a", "b"]],
    ["a missing option", ["prepare", "x"]],
    ["an option without its value", ["prepare", "x", "--out"]],
    ["an unknown target", ["prepare", "x", "--out", "y", "--targets", "edge,moon"]],
    ["an unknown engine", ["embed", "x", "--engine", "moon"]],
    ["an unknown engine in a list", ["bench", "x", "--engines", "ort-web,moon"]],
    ["lengths that are not numbers", ["bench", "x", "--tokens", "8,many"]],
    ["no rounds", ["bench", "x", "--rounds", "0"]],
    ["an unknown mode", ["quantize", "x", "y.onnx", "--mode", "int2"]],
    ["no mode", ["quantize", "x", "y.onnx"]],
    [
      "calibration without a tokenizer",
      ["quantize", "x", "y.onnx", "--mode", "fp16", "--calibration", import.meta.filename],
    ],
    ["calibration on a missing file", ["prepare", "x", "--out", "y", "--calibration", "nowhere.txt"]],
    [
      "calibration on an empty file",
      ["quantize", "x", "y", "--mode", "fp16", "--tokenizer", "x", "--calibration", "/dev/null"],
    ],
    ["a cosine above 1", ["prepare", "x", "--out", "y", "--min-cosine", "1.5"]],
    ["a bucket that is not an s3 URL", ["publish", "x", "--to", "https://bucket"]],
    ["a deployment that is not a URL", ["check", "bert.example.workers.dev", "--model", "x"]],
    ["a deployment without a model", ["check", "https://bert.example.workers.dev"]],
    ["a deployment without secrets", ["deploy", "--model", "x"]],
    ["a port above 65535", ["dev", "models/default", "--port", "99999"]],
  ])("exits with 2, the reason on stderr and nothing on stdout: %s", async (_, args) => {
    const { code, stdout, stderr } = await bertEdge(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^Error usage_invalid: .+\n {2}.*See bert-edge.* --help\.$|^Usage: bert-edge/m);
    expect(stderr).not.toContain("    at ");
  });

  it.each([
    ["a missing option", ["list"], "The option --store <place> is missing."],
    ["too many arguments", ["models", "extra"], "There are too many arguments: extra. The command takes 0."],
    ["a value that is not a URL", ["check", "URL", "--model", "x"], "<url> cannot be URL."],
    ["an unknown code", ["explain", "nope"], "<code> cannot be nope."],
    ["an option of a nested command", ["keys", "new", "--bogus"], "There is no option --bogus."],
    ["a combination", ["quantize", "x", "y", "--mode", "fp16", "--table", "int4"], "--table and --feed-forward have"],
  ])("is one JSON document on stdout with --json: %s", async (_, args, message) => {
    const { code, stdout } = await bertEdge([...args, "--json"]);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: "usage_invalid",
        message: expect.stringContaining(message),
        hint: expect.stringContaining("--help"),
      },
    });
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

describe("deploy", () => {
  it("finds what only a person can do, and what is missing, before it changes anything", async () => {
    const { root, remove } = await userProject();
    onTestFinished(remove);
    const secrets = join(root, ".dev.vars.deploy");
    // Nobody is logged in here.
    const env = { HOME: root, XDG_CONFIG_HOME: root, CLOUDFLARE_API_TOKEN: "" };
    const deploy = () => bertEdge(["deploy", "--model", artifact, "--secrets", secrets, "--json"], { cwd: root, env });
    const refused = async (code: string, part: string) => {
      const outcome = await deploy();
      expect(outcome).toMatchObject({ code: 1, stdout: errorJson(code) });
      expect(outcome.stderr).toContain(`Error ${code}: `);
      expect(outcome.stderr).toContain(part);
      expect(outcome.stderr).not.toContain("key-of-the-deployment");
    };
    await refused("setting_invalid", "cannot be read");
    await writeFile(secrets, "REGION_KEY=x\n");
    await refused("setting_invalid", "has no API_KEYS");
    await writeFile(secrets, "API_KEYS=key-of-the-deployment\n");
    await refused("project_invalid", "serves the model bert-edge-mini, not tiny");
    const config = join(root, "wrangler.toml");
    await writeFile(config, (await readFile(config, "utf8")).replace("bert-edge-mini", "tiny"));
    await refused("login_missing", "npx wrangler login");

    const dryRun = await bertEdge(["deploy", "--model", artifact, "--secrets", secrets, "--json", "--dry-run"], {
      cwd: root,
      env,
    });
    expect(dryRun.code).toBe(0);
    const { steps } = JSON.parse(dryRun.stdout) as { steps: { name: string; state: string; why?: string }[] };
    expect(steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
      "bucket unknown",
      "model unknown",
      "secrets unknown",
      "worker planned",
    ]);
    expect(steps[0]?.why).toBe("wrangler is not logged in to Cloudflare.");

    // Only a dry run may leave the secrets out.
    const without = (...more: string[]) =>
      bertEdge(["deploy", "--model", artifact, "--json", ...more], { cwd: root, env });
    const plan = JSON.parse((await without("--dry-run")).stdout) as { steps: { name: string; why?: string }[] };
    expect(plan.steps.find(({ name }) => name === "secrets")?.why).toContain("There is no --secrets <file>");
    expect((await without()).stderr).toContain("The option --secrets <file> is missing.");
    expect(dryRun.stderr).toContain("Not looked at: wrangler is not logged in");
  });
});

describe("asking for help", () => {
  it.each([[["--help"]], [["help"]], [["prepare", "--help"]], [["--version"]]])(
    "exits with 0 and answers on stdout: %j",
    async (args) => {
      const { code, stdout, stderr } = await bertEdge(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).not.toBe("");
    },
  );
});

describe("keys", () => {
  it("makes a key, and hashes it to the entry that it printed, without the key as an argument", async () => {
    const made = await bertEdge(["keys", "new", "--name", "web"]);
    const key = made.stdout.trim();
    expect([made.code, key]).toEqual([0, expect.stringMatching(/^[\w-]{43}$/)]);
    expect(made.stderr).not.toContain(key);
    const hashed = await bertEdge(["keys", "hash", "--name", "web"], { stdin: made.stdout });
    expect(hashed).toEqual({ code: 0, stderr: "", stdout: expect.stringMatching(/^web:sha256:[0-9a-f]{64}\n$/) });
    expect(made.stderr.endsWith(hashed.stdout)).toBe(true);
  });

  it.each(["", "short", "two words that are long enough"])("refuses to hash %j", async (stdin) => {
    const { code, stdout, stderr } = await bertEdge(["keys", "hash"], { stdin });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("Error setting_invalid");
  });
});

describe("models", () => {
  it("lists the catalogue", async () => {
    const { code, stdout } = await bertEdge(["models"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^bge-small-en-v1\.5 +embedding +en +512 +33 MB +edge +mit$/m);
    const { stdout: json } = await bertEdge(["models", "--json"]);
    expect(JSON.parse(json)).toContainEqual(
      expect.objectContaining({
        name: "all-minilm-l6-v2",
        hub: "sentence-transformers/all-MiniLM-L6-v2",
        fits: "edge",
      }),
    );
  });
});

describe("explain", () => {
  it.each(["INPUT_TOO_LONG", "input_too_long:", "Error input_too_long: A text", "http_503"])(
    "knows %s",
    async (code) => {
      expect(await bertEdge(["explain", code])).toMatchObject({ code: 0, stderr: "" });
    },
  );

  it("says when an error occurs, its HTTP status, and how to fix it", async () => {
    const { code, stdout, stderr } = await bertEdge(["explain", "input_too_long"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^input_too_long, HTTP 400\nA text has more tokens .+\nFix: Send a shorter text/);
    const reason = await bertEdge(["explain", "edge-cpu-limit"]);
    expect(reason.stdout).toMatch(
      /^edge-cpu-limit\nThe region answers, because .*cpuLimitMs\.\nFix: .*raise cpuLimitMs/,
    );
    const figure = await bertEdge(["explain", "hedge"]);
    expect(figure).toMatchObject({ code: 0, stdout: expect.stringMatching(/^hedge\nThe edge was uncertain, .+\n$/) });
    const json = await bertEdge(["explain", "login_missing", "--json"]);
    expect(JSON.parse(json.stdout)).toEqual({
      code: "login_missing",
      when: expect.any(String),
      fix: expect.any(String),
    });
  });
});

describe("completion", () => {
  it.each(["bash", "zsh", "fish"])("prints a script for %s, alone or in a JSON document", async (shell) => {
    const { code, stdout, stderr } = await bertEdge(["completion", shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("prepare");
    const { stdout: json } = await bertEdge(["completion", shell, "--json"]);
    expect(JSON.parse(json)).toEqual({ shell, script: stdout.trimEnd() });
  });
});

describe("doctor", () => {
  interface Report {
    readonly ok: boolean;
    readonly findings: readonly {
      readonly check: string;
      readonly level: string;
      readonly where: string;
      readonly fix?: string;
    }[];
  }
  const doctor = async (cwd: string) => {
    const { code, stdout, stderr } = await bertEdge(["doctor", "--offline", "--json"], { cwd });
    expect(stderr).toBe("");
    return { code, report: JSON.parse(stdout) as Report };
  };

  it("examines the machine alone, outside a project", async () => {
    const { code, report } = await doctor(folder);
    expect([code, report.ok]).toEqual([0, true]);
    expect(new Set(report.findings.map(({ check }) => check))).toEqual(new Set(["node", "simd", "package", "project"]));
    expect(report.findings.at(-1)).toMatchObject({ level: "note", fix: "npx create-bert-edge my-api" });
  });

  it("examines a project, and exits with 1 if it is broken", async () => {
    const { root, remove } = await userProject({ region: true });
    onTestFinished(remove);
    await cp(artifact, join(root, "models/tiny"), { recursive: true });
    const config = join(root, "wrangler.toml");
    const settings = await readFile(config, "utf8");
    await writeFile(config, settings.replace("bert-edge-mini", "tiny"));
    const healthy = await doctor(root);
    expect(healthy.code).toBe(0);
    const levels = healthy.report.findings.map(({ check, where, level }) => [check, where, level]);
    expect(levels).toEqual(
      expect.arrayContaining([
        ["provider", "cpu", "ok"],
        ["project", "wrangler.toml", "ok"],
        ["cpu-limit", "functions/edge-settings.ts", "ok"],
        ["keys", ".dev.vars", "ok"],
        ["page", "node_modules/bert-edge/dist/page", "ok"],
        ["model", "models/tiny", "ok"],
      ]),
    );
    // Each of several models is examined, and a damaged one hides nothing.
    await writeFile(join(root, "models/tiny/manifest.json"), "{");
    await writeFile(config, settings.replace("bert-edge-mini", "tiny, other"));
    const damaged = await doctor(root);
    expect(damaged.code).toBe(1);
    expect(damaged.report.findings.map(({ check, where, level }) => [check, where, level])).toEqual(
      expect.arrayContaining([
        ["project", "wrangler.toml", "ok"],
        ["page", "node_modules/bert-edge/dist/page", "ok"],
        ["model", "models/tiny", "broken"],
        ["model", "models/other", "note"],
      ]),
    );
    // The Worker's code may name its model itself.
    await rm(config);
    const json = { name: "api", main: "functions/edge.ts", r2_buckets: [{ binding: "MODELS", bucket_name: "models" }] };
    await writeFile(join(root, "wrangler.jsonc"), JSON.stringify(json));
    const inCode = await doctor(root);
    expect(inCode.code).toBe(0);
    expect(inCode.report.findings.filter(({ check }) => check === "model")).toEqual([
      expect.objectContaining({
        level: "note",
        where: "wrangler.jsonc",
        fix: 'Add "MODEL": "<name of the model>" under "vars" in wrangler.jsonc.',
      }),
    ]);
    await rm(join(root, "wrangler.jsonc"));
    await writeFile(config, `${settings.replace("functions/edge.ts", "functions/gone.ts")}\n[limits]\ncpu_ms = 50\n`);
    const { code, report } = await doctor(root);
    expect([code, report.ok]).toEqual([1, false]);
    expect(report.findings.filter(({ level }) => level === "broken")).toEqual([
      expect.objectContaining({ check: "project", fix: expect.stringContaining("main") }),
      expect.objectContaining({ check: "cpu-limit", fix: "Set cpuLimitMs to 50, or cpu_ms under [limits] to 30000." }),
    ]);
  });
});

describe("work that fails", () => {
  const nowhere = join(tmpdir(), "bert-edge-nowhere");

  it.each([
    ["onnx_missing", ["inspect", nowhere]],
    ["service_failed", ["inspect", "HTTP://127.0.0.1:1", "--json"]],
    ["checkpoint_missing", ["prepare", nowhere, "--out", join(nowhere, "out"), "--json"]],
    ["artifact_missing", ["embed", nowhere]],
    ["setting_invalid", ["check", "http://127.0.0.1:1", "--model", nowhere]],
    ["setting_invalid", ["check", "http://127.0.0.1:1", "--model", nowhere, "--key-file", nowhere]],
    ["artifact_missing", ["bench", nowhere, "--json"]],
    ["artifact_missing", ["publish", nowhere, "--to", "s3://bucket", "--json"]],
  ])("exits with 1, %s with a hint on stderr, and on stdout only with --json: %j", async (error, args) => {
    const { code, stdout, stderr } = await bertEdge(args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: args.includes("--json") ? errorJson(error) : "" });
    expect(stderr).toMatch(new RegExp(`^Error ${error}: .+\n {2}\\S`, "m"));
    expect(stderr).not.toContain("    at ");
  });

  it("exits with 1 for an invalid model name, before it reads anything", async () => {
    const { code, stdout, stderr } = await bertEdge(["prepare", nowhere, "--out", nowhere, "--name", "No Name"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("Error name_invalid");
  });

  it("does not touch an output folder that is not an artifact", async () => {
    const before = await readdir(checkpoint);
    const { code, stdout, stderr } = await bertEdge(["prepare", checkpoint, "--out", checkpoint, "--targets", "edge"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("Error out_occupied");
    expect(await readdir(checkpoint)).toEqual(before);
  });

  const none = "/dev/null/none";
  const fresh = () => join(folder, "fresh");
  it.each<[code: string, words: string, args: () => string[]]>([
    ["out_unwritable", "/dev/null cannot be written to", () => ["prepare", checkpoint, "--out", none]],
    ["out_unwritable", "/dev/null cannot be written to", () => ["optimize", checkpoint, `${none}.onnx`]],
    ["out_unwritable", "/dev/null cannot be", () => ["quantize", checkpoint, `${none}.onnx`, "--mode", "fp16"]],
    ["out_unwritable", "/dev/null cannot be written to", () => ["publish", artifact, "--to", `assets:${none}`]],
    ["data_missing", nowhere, () => ["prepare", checkpoint, "--out", fresh(), "--sts", nowhere]],
    ["data_missing", nowhere, () => ["verify", artifact, "--sts", nowhere]],
    ["data_invalid", "line 1", () => ["prepare", checkpoint, "--out", fresh(), "--sts", import.meta.filename]],
    ["data_unsuitable", "--sts", () => ["prepare", checkpoint, "--out", fresh(), "--labelled", nowhere]],
    [
      "checkpoint_missing",
      join(nowhere, "tokenizer.json"),
      () => ["quantize", checkpoint, fresh(), "--mode", "fp16", "--tokenizer", nowhere],
    ],
    ["checkpoint_missing", "https://huggingface.co/sdk/model", () => ["prepare", "sdk/model", "--out", fresh()]],
    ["artifact_missing", "bert-edge prepare org/model --out", () => ["embed", "org/model"]],
  ])("exits with %s before the first stage, and says: %s", async (error, words, args) => {
    const { code, stdout, stderr } = await bertEdge(args());
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`Error ${error}: `);
    expect(stderr).toContain(words);
    expect(stderr).not.toMatch(/✓|^ {4}at /m);
  });

  it.each([
    ["prepare", () => ["prepare", "org/model", "--out", fresh()]],
    ["prepare, a name of the catalogue", () => ["prepare", "bge-small-en-v1.5", "--out", fresh()]],
    ["optimize", () => ["optimize", "org/model", fresh()]],
    ["quantize", () => ["quantize", "org/model", fresh(), "--mode", "fp16"]],
  ])("exits with 1 when the Hub does not have the model: %s", async (_, args) => {
    const { endpoint } = await hubServer({});
    const env = { HF_ENDPOINT: endpoint, HF_HUB_CACHE: await temporaryFolder(), HF_TOKEN: "" };
    const { code, stdout, stderr } = await bertEdge(args(), { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const name = args()[1] === "bge-small-en-v1.5" ? "BAAI/bge-small-en-v1.5" : "org/model";
    expect(stderr).toContain(`Error hub_model_missing: There is no model ${name} on 127.0.0.1`);
  });

  it("exits with 1 when the object store cannot be reached", async () => {
    const { code, stdout, stderr } = await bertEdge(
      ["publish", artifact, "--to", "s3://bucket", "--endpoint", "http://127.0.0.1:1", "--json"],
      {
        env: {
          AWS_ACCESS_KEY_ID: "id",
          AWS_SECRET_ACCESS_KEY: "the-secret",
          AWS_REGION: "us-east-1",
          AWS_MAX_ATTEMPTS: "1",
        },
      },
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: errorJson("storage_unavailable") });
    expect(stderr).toContain("Error storage_unavailable");
    expect(stdout + stderr).not.toContain("the-secret");
  });
});

describe("prepare", () => {
  it("prints its report as one JSON document on stdout, and its stages on stderr", () => {
    expect(prepared.code).toBe(0);
    const report = JSON.parse(prepared.stdout) as PrepareReport;
    expect(report.manifest.name).toBe("tiny");
    expect(Object.keys(report.manifest.targets)).toEqual(["edge", "regional-cpu"]);
    expect(prepared.stderr).toContain("✓ read ");
  });

  it("writes an artifact whose manifest is in the report", async () => {
    const { manifest } = JSON.parse(prepared.stdout) as PrepareReport;
    const files = await readdir(artifact);
    expect(files.sort()).toEqual([...Object.keys(manifest.files), "manifest.json", "measurements.json"].sort());
  });
});

describe("inspect", () => {
  it("prints a graph before and after fusion, and one JSON document on stdout with --json", async () => {
    const [text, json] = await Promise.all([
      bertEdge(["inspect", checkpoint]),
      bertEdge(["inspect", artifact, "--json"]),
    ]);
    expect(text).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^before: \d+ nodes[\s\S]*\nafter: \d+ nodes/),
    });
    expect(JSON.parse(json.stdout)).toMatchObject({
      kind: "artifact",
      name: "tiny",
      targets: { edge: { engine: "wasm" } },
    });
  });
});

describe("optimize", () => {
  it("prints its report as one JSON document on stdout, and writes the fused model", async () => {
    const out = join(folder, "fused.onnx");
    const { code, stdout, stderr } = await bertEdge(["optimize", checkpoint, out, "--json"]);
    expect({ code, stages: stderr.match(/✓/g)?.length }).toEqual({ code: 0, stages: 4 });
    expect(JSON.parse(stdout)).toEqual({
      nodes: { before: expect.any(Number), after: expect.any(Number) },
      fused: { EmbedLayerNormalization: 1, Attention: 1, SkipLayerNormalization: 2, BiasGelu: 1 },
      complete: true,
      reasons: [],
      excused: [],
      parity: { maxAbs: expect.any(Number), cosine: expect.any(Number), cases: 5 },
      warnings: [],
      seconds: expect.any(Number),
      peakRssMB: expect.any(Number),
      stages: expect.any(Array),
    } satisfies Omit<OptimizeReport, "source">);
    expect((await stat(out)).size).toBeGreaterThan(1000);
  });

  it("exits with 1 and the reasons when not everything is fused, unless that is allowed", async () => {
    const g = new NamedGraph("plain", [{ name: "x", dtype: "float32", shape: ["batch", 4] }]);
    g.op("y", "Tanh", ["x"]);
    const [source, out] = [join(folder, "plain.onnx"), join(folder, "partial.onnx")];
    await writeFile(source, encodeOnnx(g.outputs("y")));
    const refused = await bertEdge(["optimize", source, out, "--json"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("not fused: Attention: the graph has no attention that a fusion recognizes");
    expect(JSON.parse(refused.stdout)).toMatchObject({ complete: false, reasons: [{ pattern: "Attention" }] });
    expect(await readdir(folder)).not.toContain("partial.onnx");
    expect((await bertEdge(["optimize", source, out, "--allow-partial", "--no-parity"])).code).toBe(0);
    expect(await readdir(folder)).toContain("partial.onnx");
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
    const optimized = await bertEdge(["optimize", "org/Tiny", join(own, "tiny.onnx"), "--json"], { env });
    expect(optimized).toMatchObject({ code: 0, stderr: expect.stringContaining("✓ download org/Tiny@ccccccc (") });
    expect(JSON.parse(optimized.stdout)).toMatchObject({ source: { name: "org/Tiny", commit, isOffline: false } });

    hub.requests.length = 0;
    const out = join(own, "artifact");
    const prepared = await bertEdge(["prepare", `org/Tiny@${commit}`, "--out", out, "--targets", "edge"], { env });
    expect(prepared).toMatchObject({ code: 0, stdout: expect.stringContaining(`tiny: 16 dimensions`) });
    expect(prepared.stdout).toContain(`downloaded: org/Tiny@${commit}`);
    expect(hub.requests).toEqual([]);

    hub.fault = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    const offline = await bertEdge(["prepare", "org/Tiny", "--out", out, "--targets", "edge"], { env });
    expect(offline.stdout).toContain(`downloaded: org/Tiny@${commit} (the Hub could not be asked`);
  });
});

describe("quantize", () => {
  it("prints its report as one JSON document on stdout, and writes the model", async () => {
    const out = join(folder, "int8.onnx");
    const args = ["quantize", checkpoint, out, "--mode", "int8-blocks", "--tokenizer", checkpoint, "--json"];
    const { code, stdout, stderr } = await bertEdge(args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ mode: "int8-blocks", kept: [], parity: { cases: 21 } });
    expect(stderr).toContain("✓ measure");
    expect((await stat(out)).size).toBeGreaterThan(1000);
  });
});

describe("embed", () => {
  const lines = ["to be", " or ", "not \u{1f389}"];
  const stdin = `${lines.join("\n")}\n`;
  const vectors = (stdout: string) =>
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => Float32Array.from(JSON.parse(line) as number[]));

  it.each(["ort-node", "wasm"])("prints one JSON array for every line of stdin, with %s", async (engine) => {
    const { code, stdout } = await bertEdge(["embed", artifact, "--engine", engine], { stdin });
    expect(code).toBe(0);
    expect(vectors(stdout).map(({ length }) => length)).toEqual(lines.map(() => 16));
    for (const vector of vectors(stdout)) expect(Math.abs(Math.hypot(...vector) - 1)).toBeLessThan(1e-6);
    const { stdout: json } = await bertEdge(["embed", artifact, "--engine", engine, "--json"], { stdin });
    expect(JSON.parse(json)).toEqual({
      model: "tiny",
      version: expect.stringMatching(/^[0-9a-f]{12}$/),
      vectors: stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    });
  });

  it("uses the edge engine for an artifact that has no other", async () => {
    const copy = join(folder, "edge-alone");
    await cp(artifact, copy, { recursive: true });
    const { targets, ...rest } = JSON.parse(await readFile(join(copy, "manifest.json"), "utf8")) as Manifest;
    await writeFile(join(copy, "manifest.json"), JSON.stringify({ ...rest, targets: { edge: targets.edge } }));
    const wanted = await bertEdge(["embed", artifact, "--engine", "wasm"], { stdin });
    expect(await bertEdge(["embed", copy], { stdin })).toMatchObject({ code: 0, stdout: wanted.stdout });
  });

  it("gives a line the same vector alone, with or without a newline at its end", async () => {
    const [all, alone] = await Promise.all([
      bertEdge(["embed", artifact], { stdin }),
      bertEdge(["embed", artifact], { stdin: lines[2] as string }),
    ]);
    expect(all.stdout.trimEnd().split("\n")[2]).toBe(alone.stdout.trimEnd());
    const [first, , third] = vectors(all.stdout) as [Float32Array, Float32Array, Float32Array];
    expect(cosine(first, third)).toBeLessThan(0.999);
  });

  it("ends without an error when its reader closes the pipe", async () => {
    const child = startBertEdge(["embed", artifact]);
    const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
    const stderr = text(child.stderr);
    child.stdout.once("data", () => child.stdout.destroy());
    child.stdin.on("error", () => {});
    child.stdin.end("to be\n".repeat(2_000));
    expect([await closed, await stderr]).toEqual([0, ""]);
  });

  it("names the engine of a target that --engine does not fit", async () => {
    const { code, stderr } = await bertEdge(["embed", artifact, "--engine", "ort-web"], { stdin });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/is for the engine wasm.*ort-web/s) });
  });

  it.each(["to be\n\nor not\n", "to be\n \t\nor not\n"])(
    "names an empty line in place of embedding it: %j",
    async (stdin) => {
      const { code, stdout, stderr } = await bertEdge(["embed", artifact], { stdin });
      expect({ code, vectors: vectors(stdout).length }).toEqual({ code: 1, vectors: 1 });
      expect(stderr).toContain("Error input_empty: Line 2 of the input is empty");
    },
  );

  it("prints nothing for empty input", async () => {
    expect(await bertEdge(["embed", artifact])).toMatchObject({ code: 0, stdout: "" });
  });
});

describe("bench", () => {
  it("prints one JSON document on stdout, and stores the latencies next to the manifest", async () => {
    const copy = join(folder, "timed");
    await bertEdge(["prepare", checkpoint, "--out", copy, "--targets", "edge,regional-cpu"]);
    const manifest = await readFile(join(copy, "manifest.json"), "utf8");
    const args = ["bench", copy, "--tokens", "4,16,64", "--rounds", "1", "--json"];
    const { code, stdout } = await bertEdge(args);
    expect(code).toBe(0);
    const report = JSON.parse(stdout) as { engines: Record<string, { points: { tokens: number }[]; latency: object }> };
    expect(report).toMatchObject({ unit: "ms", rounds: 1 });
    expect(Object.keys(report.engines)).toEqual(["wasm", "ort-node"]);
    expect(report.engines["wasm"]?.points.map(({ tokens }) => tokens)).toEqual([4, 16, 64]);
    const stored = JSON.parse(await readFile(join(copy, "measurements.json"), "utf8"));
    expect(stored.edge.latency).toEqual(report.engines["wasm"]?.latency);
    expect(stored["regional-cpu"].latency).toEqual(report.engines["ort-node"]?.latency);
    expect(await readFile(join(copy, "manifest.json"), "utf8")).toBe(manifest);
  });

  it("does not store latencies that were measured without short or without long texts", async () => {
    const measurements = join(artifact, "measurements.json");
    const before = await readFile(measurements, "utf8");
    for (const tokens of ["8,16,20", "40,50,64", "8,64"]) {
      const { code, stderr } = await bertEdge([
        "bench",
        artifact,
        "--tokens",
        tokens,
        "--rounds",
        "1",
        "--engines",
        "ort-node",
      ]);
      expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("not stored") });
    }
    expect(await readFile(measurements, "utf8")).toBe(before);
  });
});

describe("versions in a bucket", () => {
  it("are listed, promoted, rolled back, read back, and removed when they are old", async () => {
    const { access } = s3;
    const env = {
      AWS_ACCESS_KEY_ID: access.accessKeyId,
      AWS_SECRET_ACCESS_KEY: access.secretAccessKey,
      AWS_REGION: access.region,
    };
    const place = `s3://${access.bucket}/versions/`;
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await bertEdge([...args, "--endpoint", access.endpoint, "--json"], { env });
      return { code, stderr, json: JSON.parse(stdout) };
    };
    const other = join(folder, "other");
    await bertEdge(["prepare", checkpoint, "--out", other, "--name", "tiny", "--targets", "edge"]);
    const first = (await run("publish", artifact, "--to", place, "--verify")).json;
    expect(first.verifiedBytes).toBeGreaterThan(1_000);
    // Versions are sorted by the store's clock, which has whole seconds.
    await setTimeout(1_100);
    const second = (await run("publish", other, "--to", place)).json;

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
    expect((await run("promote", `tiny@${second.version}`, "--store", place)).code).toBe(0);
    expect(await versions()).toEqual([
      [second.version, true],
      [first.version, false],
    ]);
    expect((await run("gc", "--store", place, "--older-than", "1")).json).toEqual({
      ...{ dryRun: false, versions: [], objects: 0, bytes: 0, uploads: 0 },
    });
  });

  it("are signed, and then never replaced by unsigned ones", async () => {
    const key = join(folder, "signing.key");
    const made = await bertEdge(["keys", "signer"]);
    await writeFile(key, made.stdout);
    const [signer = ""] = /ed25519:[0-9a-f]{64}/.exec(made.stderr) ?? [];
    const place = `folder:${join(folder, "signed")}`;
    const sign = ["--signing-key", key, "--expires", "30"];
    const run = async (args: string[], env: Record<string, string> = {}) => {
      const { code, stdout } = await bertEdge([...args, "--json"], { env });
      return { code, json: JSON.parse(stdout) };
    };
    const { version } = (await run(["publish", artifact, "--to", place, ...sign, "--verify"])).json;
    const [first] = (await run(["list", "--store", place])).json;
    expect(first).toMatchObject({ version, isCurrent: true, signed: { signer } });
    expect((Date.parse(first.signed.expires) - Date.now()) / 86_400_000).toBeCloseTo(30, 1);
    const missing = { code: 1, json: { error: { code: "signing_key_missing" } } };
    expect(await run(["publish", artifact, "--to", place])).toMatchObject(missing);
    expect(await run(["promote", `tiny@${version}`, "--store", place])).toMatchObject(missing);
    const env = { BERT_EDGE_SIGNING_KEY: made.stdout };
    expect(await run(["promote", `tiny@${version}`, "--store", place], env)).toMatchObject({ code: 0 });
    const [again] = (await run(["list", "--store", place])).json;
    expect(again.signed.sequence).toBeGreaterThan(first.signed.sequence);
  });

  it.each([
    ["a file that does not exist", "nowhere.key"],
    ["a file without a key", "package.json"],
  ])("are not published with %s as the signing key", async (_, file) => {
    const { code, stdout, stderr } = await bertEdge([
      "publish",
      artifact,
      "--to",
      `folder:${folder}/x`,
      "--signing-key",
      file,
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("Error signing_key_invalid");
  });

  it.each([
    ["promote without a version", ["promote", "tiny", "--store", "folder:x"]],
    ["gc of things without age", ["gc", "--store", "folder:x", "--older-than", "0"]],
    ["list without a place", ["list"]],
  ])("wrong usage exits with 2: %s", async (_, args) => {
    expect(await bertEdge(args)).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("publish", () => {
  it("prints one JSON document on stdout, and each object on stderr", async () => {
    const { access } = s3;
    const env = {
      AWS_ACCESS_KEY_ID: access.accessKeyId,
      AWS_SECRET_ACCESS_KEY: access.secretAccessKey,
      AWS_REGION: access.region,
    };
    const args = [
      "publish",
      artifact,
      "--to",
      `s3://${access.bucket}/team-a/`,
      "--endpoint",
      access.endpoint,
      "--json",
    ];
    const first = await bertEdge(args, { env });
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

    const again = await bertEdge(args.slice(0, -1), { env });
    expect(again.stdout).toBe(
      `tiny@${result.version} is current at s3://${access.bucket}/team-a/ (0 objects, 0.0 MB sent).\n`,
    );
    expect(again.stderr.match(/^reused /gm)).toHaveLength(result.uploaded);
  });

  it.each([
    ["static assets", "assets", assetsFolder],
    ["objects for MODELS_FOLDER", "folder", fsStore],
  ])("writes %s into a folder", async (_, kind, storeOf) => {
    const target = join(folder, kind);
    const { code, stdout } = await bertEdge(["publish", artifact, "--to", `${kind}:${target}`]);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`is current at ${target} (`) });
    const store = storeOf(target);
    const published = await openPublished(store, await readPointer(store, "tiny"));
    for (const file of Object.keys(published.manifest.files)) await published.read(file);
  });
});
