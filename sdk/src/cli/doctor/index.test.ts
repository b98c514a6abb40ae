import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { userProject } from "#test/e2e/project.ts";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import type { Finding } from "../finding.ts";

async function doctor(cwd: string) {
  const { code, stdout, stderr } = await runCommandLine(["doctor", "--offline", "--json"], { cwd });
  expect(stderr).toBe("");
  const report = JSON.parse(stdout) as { ok: boolean; findings: Finding[] };
  return { code, ...report, levels: report.findings.map(({ check, where, level }) => [check, where, level]) };
}

/** A project without onnxruntime, whose providers take seconds to try. */
async function healthyProject() {
  const { root, remove } = await userProject({ packages: ["wrangler", "bert-edge", "hono"] });
  onTestFinished(remove);
  await cp(await preparedTiny(), join(root, "models/tiny"), { recursive: true });
  const config = join(root, "wrangler.toml");
  const settings = (await readFile(config, "utf8")).replace("bert-edge-mini", "tiny");
  await writeFile(config, settings);
  return { root, config, settings };
}

describe("doctor", () => {
  it("examines the machine alone, outside a project", async () => {
    const { code, ok, findings } = await doctor(await temporaryFolder());
    expect([code, ok]).toEqual([0, true]);
    expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(["node", "simd", "package", "project"]));
    expect(findings.at(-1)).toMatchObject({ level: "note", fix: "npx create-bert-edge my-api" });
  });

  it("examines a project", async () => {
    const { root } = await healthyProject();
    const { code, levels } = await doctor(root);
    expect(code).toBe(0);
    expect(levels).toEqual(
      expect.arrayContaining([
        ["project", "wrangler.toml", "ok"],
        ["cpu-limit", "functions/edge-settings.ts", "ok"],
        ["keys", ".dev.vars", "ok"],
        ["page", "node_modules/bert-edge/dist/page", "ok"],
        ["model", "models/tiny", "ok"],
      ]),
    );
    const { stdout } = await runCommandLine(["doctor", "--offline"], { cwd: root });
    expect(stdout).toMatch(/models\/tiny[\s\S]*\n\nNothing is broken\.\n$/);
  });

  it("asks which prepared model is meant by MODEL", async () => {
    const { root, config, settings } = await healthyProject();
    await writeFile(config, settings.replace('"tiny"', '"tyny"'));
    const { code, findings } = await doctor(root);
    expect(code).toBe(1);
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: "model",
        level: "broken",
        what: expect.stringMatching(/MODEL = "tyny".*Did you mean tiny\?$/),
      }),
    );
  });

  it("takes a model that is served too for no misspelling of another", async () => {
    const { root, config, settings } = await healthyProject();
    await writeFile(config, settings.replace('"tiny"', '"tiny,tiny2"'));
    const { levels } = await doctor(root);
    expect(levels).toContainEqual(["model", "models/tiny2", "note"]);
  });

  it("examines each of several models, and a damaged one hides nothing", async () => {
    const { root, config, settings } = await healthyProject();
    await writeFile(join(root, "models/tiny/manifest.json"), "{");
    await writeFile(config, settings.replace('"tiny"', '"tiny, other"'));
    const { code, levels } = await doctor(root);
    expect(code).toBe(1);
    expect(levels).toEqual(
      expect.arrayContaining([
        ["project", "wrangler.toml", "ok"],
        ["page", "node_modules/bert-edge/dist/page", "ok"],
        ["model", "models/tiny", "broken"],
        ["model", "models/other", "note"],
      ]),
    );
  });

  it("accepts a Worker whose code names its model itself", async () => {
    const { root, config } = await healthyProject();
    await rm(config);
    const json = { name: "api", main: "functions/edge.ts", r2_buckets: [{ binding: "MODELS", bucket_name: "models" }] };
    await writeFile(join(root, "wrangler.jsonc"), JSON.stringify(json));
    const { code, findings } = await doctor(root);
    expect(code).toBe(0);
    expect(findings.filter(({ check }) => check === "model")).toEqual([
      expect.objectContaining({
        level: "note",
        where: "wrangler.jsonc",
        fix: 'Add "MODEL": "<name of the model>" under "vars" in wrangler.jsonc.',
      }),
    ]);
  });

  it("exits with 1 if the project is broken", async () => {
    const { root, config, settings } = await healthyProject();
    const broken = `${settings.replace("functions/edge.ts", "functions/gone.ts")}\n[limits]\ncpu_ms = 50\n`;
    await writeFile(config, broken);
    const { code, ok, findings } = await doctor(root);
    expect([code, ok]).toEqual([1, false]);
    expect(findings.filter(({ level }) => level === "broken")).toEqual([
      expect.objectContaining({ check: "project", fix: expect.stringContaining("main") }),
      expect.objectContaining({ check: "cpu-limit", fix: "Set cpuLimitMs to 50, or cpu_ms under [limits] to 30000." }),
    ]);
    const { stdout } = await runCommandLine(["doctor", "--offline"], { cwd: root });
    expect(stdout).toMatch(new RegExp(`\n\n2 of ${findings.length} findings are broken\\.\n$`));
  });
});
