import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { CheckReport } from "#sdk/cli/check/check-deployment.ts";
import type { Stack } from "#sdk/cli/dev/stack.ts";
import { BertEdge } from "#sdk/client/bert-edge.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { bertEdge } from "../fixtures/bert-edge-command.ts";
import { preparedDefault } from "../fixtures/prepared.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { startDefaultStack } from "./default-stack.ts";

/** Runs `bert-edge check` as users run it. */
async function check({ url, key }: Stack["edge"], model: string) {
  const args = ["check", url, "--model", model, "--json"];
  const { code, stdout, stderr } = await bertEdge(args, { env: { BERT_EDGE_API_KEY: key } });
  expect(stdout + stderr).not.toContain(key);
  const report = JSON.parse(stdout) as CheckReport;
  const broken = report.findings.filter(({ level }) => level === "broken");
  return { code, report, broken: broken.map(({ check: name, where }) => `${name}: ${where}`), all: stdout };
}

describe("the whole product, with edge and region", () => {
  let stack: Stack;
  let artifact: string;

  beforeAll(async () => {
    [artifact, stack] = await Promise.all([preparedDefault(), startDefaultStack()]);
  });
  afterAll(() => stack?.stop());

  it("serves the openai package with 2,048 inputs, at the edge and in the region", async () => {
    const input = Array.from({ length: 2_048 }, (_, i) => `mill ${i}`);
    if (!stack.region) throw new Error("The stack has no region.");
    for (const { url, key: apiKey } of [stack.edge, stack.region]) {
      const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
      const { data: answer, response } = await openai.embeddings
        .create({ model: "bert-edge-mini", input })
        .withResponse();
      const { data } = answer;
      expect(data).toHaveLength(input.length);
      const tier = response.headers.get("x-bert-edge-tier") as "edge" | "region";
      const [alone] = (await new BertEdge({ baseURL: url, apiKey }).embed(input[2_047] ?? "", { tier })).embeddings;
      expect(cosine(Float32Array.from(data[2_047]?.embedding ?? []), alone ?? new Float32Array())).toBeGreaterThan(
        0.999_99,
      );
    }
  });

  it("`bert-edge check` proves keys, model, vectors of both tiers and the CPU limit, and exits with 0", async () => {
    const { code, report, broken, all } = await check(stack.edge, artifact);
    expect(broken, all).toEqual([]);
    expect(code).toBe(0);
    const vectors = report.findings.filter((finding) => finding.check === "vectors");
    expect(vectors.map(({ level, where }) => [level, where])).toEqual([
      ["ok", "edge"],
      ["ok", "region"],
    ]);
    expect(report.findings.find((finding) => finding.check === "cpu-limit")?.level).toBe("ok");
  });

  it("`bert-edge check` finds that the key is wrong", async () => {
    const { code, broken } = await check({ ...stack.edge, key: "another-key" }, artifact);
    expect({ code, broken }).toEqual({ code: 1, broken: ["reached: POST /v1/embed"] });
  });
});

/** Times of an edge that needs 10 s for each text. It learns that it is faster, by the factor 8 at most. */
const slowEdge = {
  edge: { latency: { base: 10_000, perToken: 0, perSquare: 0 } },
  "regional-cpu": { latency: { base: 1, perToken: 0, perSquare: 0 } },
};

it("a slow edge asks the region, and answers itself when the region is down, which `bert-edge check` finds, beside another version", async () => {
  const stack = await startDefaultStack(slowEdge);
  onTestFinished(stack.stop);
  const edge = new BertEdge({ baseURL: stack.edge.url, apiKey: stack.edge.key });
  const texts = ["The wheel still turns whenever the sluice is open.", "And the mill?"];
  const ask = () => edge.embed(texts, { latencyBudgetMs: 2_000 });
  expect(await ask()).toMatchObject({ tier: "region", reason: "edge-over-budget", embeddings: { length: 2 } });
  await stack.services.region?.stop();
  expect(await ask()).toMatchObject({ tier: "edge", reason: "region-down", embeddings: { length: 2 } });

  const other = await temporaryFolder();
  await cp(await preparedDefault(), other, { recursive: true });
  const manifest = join(other, "manifest.json");
  // The version is the hash of the manifest.
  await writeFile(manifest, `${await readFile(manifest, "utf8")}\n`);
  const { code, broken, all } = await check(stack.edge, other);
  expect({ code, broken }, all).toEqual({ code: 1, broken: ["model: edge", "region: region"] });
});
