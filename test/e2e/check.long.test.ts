import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckReport } from "#sdk/cli/check/check-deployment.ts";
import type { Stack } from "#sdk/cli/dev/stack.ts";
import { bertEdge } from "../fixtures/bert-edge-command.ts";
import { preparedDefault } from "../fixtures/prepared.ts";
import { startDefaultStack } from "./default-stack.ts";

/** `bert-edge check` as users run it, against the edge in workerd and the region in Node. */
describe("bert-edge check", () => {
  let folder: string;
  let artifact: string;
  let stack: Stack;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "bert-edge-check-"));
    artifact = await preparedDefault();
    stack = await startDefaultStack();
  });
  afterAll(async () => {
    await stack?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function check(model: string, key = stack.edge.key) {
    const args = ["check", stack.edge.url, "--model", model, "--json"];
    const { code, stdout, stderr } = await bertEdge(args, { env: { BERT_EDGE_API_KEY: key } });
    expect(stdout + stderr).not.toContain(key);
    const report = JSON.parse(stdout) as CheckReport;
    const broken = report.findings.filter(({ level }) => level === "broken");
    return { code, report, broken: broken.map(({ check: name, where }) => `${name}: ${where}`), all: stdout };
  }

  it("proves keys, model, vectors of both tiers and the CPU limit, and exits with 0", async () => {
    const { code, report, broken, all } = await check(artifact);
    expect(broken, all).toEqual([]);
    expect(code).toBe(0);
    const vectors = report.findings.filter((finding) => finding.check === "vectors");
    expect(vectors.map(({ level, where }) => [level, where])).toEqual([
      ["ok", "edge"],
      ["ok", "region"],
    ]);
    expect(report.findings.find((finding) => finding.check === "cpu-limit")?.level).toBe("ok");
  });

  it("finds another version", async () => {
    const other = join(folder, "other");
    await cp(artifact, other, { recursive: true });
    const manifest = join(other, "manifest.json");
    // The version is the hash of the manifest.
    await writeFile(manifest, `${await readFile(manifest, "utf8")}\n`);
    const { code, broken } = await check(other);
    expect({ code, broken }).toEqual({ code: 1, broken: ["model: edge", "model: region"] });
  });

  it("finds that the key is wrong", async () => {
    const { code, broken } = await check(artifact, "another-key");
    expect({ code, broken }).toEqual({ code: 1, broken: ["reached: POST /v1/embed"] });
  });

  it("finds a dead region", async () => {
    await stack.services.region?.stop();
    const { code, broken } = await check(artifact);
    expect({ code, broken }).toEqual({ code: 1, broken: ["region: region"] });
  });
});
