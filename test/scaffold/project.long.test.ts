import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Measurements } from "#sdk/artifact/measurements.ts";
import { BertEdge } from "#sdk/client/bert-edge.ts";
import { cleanEnv } from "../e2e/clean-env.ts";
import { replayDockerfile } from "../e2e/dockerfile.ts";
import { publishedModel } from "../e2e/published-model.ts";
import { regionEnv, startImage } from "../e2e/running-image.ts";
import { preparedDefault } from "../fixtures/prepared.ts";
import { buildScaffolder, linkPackages } from "./scaffolder.ts";
import { runIn } from "./terminal.ts";

/** wrangler would fetch an example of `request.cf` from the network, and send metrics. */
const offline = { CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_SEND_METRICS: "false" };

/** A project with its real model and the packages of this repository. Only the registry is left out. */
describe("a created project", () => {
  let folder: string;
  let bin: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "create-bert-edge-"));
    bin = await buildScaffolder(folder, await preparedDefault());
    await create("my-api");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function create(name: string, ...flags: string[]): Promise<string> {
    expect(await runIn(folder, [process.execPath, bin, name, "--no-install", ...flags])).toMatchObject({ code: 0 });
    await linkPackages(join(folder, name));
    return join(folder, name);
  }
  /** Copies the project my-api, so that a test can change it. */
  async function copied(name: string): Promise<string> {
    await cp(join(folder, "my-api"), join(folder, name), { recursive: true });
    return join(folder, name);
  }
  const test = (project: string) => runIn(project, [process.execPath, "--test"], offline);

  it("fails its tests when its Worker asks for another model", async () => {
    const project = await copied("broken");
    const toml = join(project, "wrangler.toml");
    await writeFile(toml, (await readFile(toml, "utf8")).replace('MODEL = "bert-edge-mini"', 'MODEL = "other"'));
    const { code, stdout } = await test(project);
    expect(stdout).toContain('wrangler.toml says MODEL = "other", but there is no models/other.');
    expect(code).toBe(1);
  });

  it("fails its tests when its Worker has no bucket", async () => {
    const project = await copied("no-bucket");
    const toml = join(project, "wrangler.toml");
    await writeFile(toml, (await readFile(toml, "utf8")).replace('binding = "MODELS"', 'binding = "OTHER"'));
    const { code, stdout } = await test(project);
    expect(stdout).toContain("wrangler.toml has no R2 bucket with the binding MODELS.");
    expect(code).toBe(1);
  });

  it("passes its tests in workerd, with vectors of its model, and takes the route that README.md adds", async () => {
    const project = await copied("route");
    const readme = await readFile(join(project, "README.md"), "utf8");
    const [, route = ""] = /```ts\n([^`]*app\.get[^`]*)\n```/.exec(readme) ?? [];
    // How many texts the 10 ms of the free plan are enough for depends on the machine that measured the model.
    const measured = join(project, "models/bert-edge-mini/measurements.json");
    const { edge: target } = JSON.parse(await readFile(measured, "utf8")) as Measurements;
    const latency = { base: 0.5, perToken: 0.1, perSquare: 0 };
    await writeFile(measured, JSON.stringify({ edge: { ...target, latency } }));
    const edge = join(project, "functions/edge.ts");
    await writeFile(edge, (await readFile(edge, "utf8")).replace("export default", `${route}\n\nexport default`));
    const [, path = ""] = /curl 'http:\/\/127\.0\.0\.1:8787([^']+)' -H 'authorization/.exec(readme) ?? [];
    const testFile = join(project, "test/edge.test.js");
    const routeTest = `
      test("the route", async () => {
        const ask = async (path, headers) => {
          const response = await server.fetch(path, { headers });
          return [response.status, await response.json()];
        };
        const headers = { authorization: "Bearer key" };
        console.log("answers:", JSON.stringify([
          await ask("${path}", headers),
          await ask("/v1/similar?a=a+cat&b=a+cat", headers),
          await ask("/v1/similar?a=a+cat", headers),
          await ask("${path}", {}),
        ]));
      });
      test("many documents, on the free plan", async () => {
        const documents = Array.from({ length: 300 }, (_, i) => \`document \${i}\`);
        const { embeddings, requests } = await bert.embed(documents);
        assert.equal(embeddings.length, 300);
        assert(requests.every(({ texts }) => texts < 16));
      });`;
    await writeFile(testFile, (await readFile(testFile, "utf8")) + routeTest);
    const { code, stdout } = await test(project);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/pass 4\n/)]);
    const [, answers = "[]"] = /answers: (.*)/.exec(stdout) ?? [];
    const similarity = (value: number) => [200, { similarity: expect.closeTo(value, 3) }];
    expect(JSON.parse(answers)).toMatchObject([
      [200, { similarity: expect.any(Number) }],
      similarity(1),
      [400, { error: { code: "input_empty" } }],
      [401, { error: { code: "key_missing" } }],
    ]);
    expect(JSON.parse(answers)[0][1].similarity).toBeGreaterThan(0.3);
    expect(JSON.parse(answers)[0][1].similarity).toBeLessThan(0.99);
    await writeFile(testFile, "");
    expect(await runIn(project, [process.execPath, "node_modules/typescript/bin/tsc"])).toMatchObject({ code: 0 });
  });

  it("bundles its Worker in a dry run of the deployment", async () => {
    const { code, stdout } = await runIn(join(folder, "my-api"), ["npm", "run", "deploy", "--", "--dry-run"], offline);
    expect(stdout).toContain("env.MODELS (my-api-models)");
    expect(code).toBe(0);
  });

  it("bundles a Worker for onnxruntime-web as README.md describes", async () => {
    const project = await copied("ort-web");
    const readme = await readFile(join(project, "README.md"), "utf8");
    for (const [, path = "", content = ""] of readme.matchAll(/^`(functions\/[^`]+)`:\n\n```ts\n(.+?)```$/gms)) {
      await writeFile(join(project, path), content);
    }
    const [main = ""] = /main = "[^"]+"/.exec(readme) ?? [];
    const toml = join(project, "wrangler.toml");
    const [, settings = ""] = /```toml\n(.+?)```/s.exec(readme) ?? [];
    await writeFile(toml, `${(await readFile(toml, "utf8")).replace(/main = .*/, main)}\n${settings}`);
    expect(await runIn(project, [process.execPath, "node_modules/typescript/bin/tsc"])).toMatchObject({ code: 0 });
    const deploy = ["npm", "run", "deploy", "--", "--dry-run", "--outdir", "bundled"] as const;
    expect(await runIn(project, deploy, offline)).toMatchObject({ code: 0 });
    expect(await readdir(join(project, "bundled"))).toContainEqual(expect.stringMatching(/ort-wasm.*\.wasm$/));
  });

  it.runIf(process.platform === "linux")("builds an image of its region, which answers a vector", async () => {
    const project = await create("region", "--region", "container");
    // `npm install` would write the lockfile, and `npm ci` in the image reads it.
    await writeFile(join(project, "package-lock.json"), "{}");
    const image = await replayDockerfile({
      dockerfile: join(project, "infra/Dockerfile"),
      context: project,
      into: join(folder, "image"),
      env: cleanEnv,
      async substitute(command, at) {
        if (!command.startsWith("npm ci")) return false;
        await linkPackages(at);
        return true;
      },
    });
    const model = await publishedModel();
    onTestFinished(() => model.stop());
    const region = await startImage(image, regionEnv(model, "key"));
    onTestFinished(() => region.stop());
    const { tier, embeddings } = await new BertEdge({ baseURL: region.url, apiKey: "key" }).embed("to be or not to be");
    expect(tier).toBe("region");
    expect(embeddings[0]).toHaveLength(model.manifest.dimensions);
  });
});
