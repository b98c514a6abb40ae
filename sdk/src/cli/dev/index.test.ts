import { once } from "node:events";
import { cp, mkdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type UserProject, userProject } from "#test/e2e/project.ts";
import { hubServer } from "#test/fixtures/hub-server.ts";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import { neededLine } from "./index.ts";

it("shows what services say, without their empty lines and wrangler's label", () => {
  expect(neededLine("[wrangler:info] POST /v1/embed 200 OK (7ms)")).toBe("POST /v1/embed 200 OK (7ms)");
  expect(neededLine("  a fault")).toBe("  a fault");
  expect(neededLine("")).toBeUndefined();
  expect(neededLine("[wrangler:info] ✨ Parsed 1 valid header rule.")).toBeUndefined();
});

describe("what `bert-edge dev` finds out before the first stage", () => {
  let project: UserProject;
  let artifact: string;
  beforeAll(async () => {
    artifact = await preparedTiny();
  });
  beforeEach(async () => {
    project = await userProject();
  });
  afterEach(() => project.remove());

  const dev = (args: readonly string[], env = {}) => runCommandLine(["dev", ...args], { cwd: project.root, env });
  const edit = async (file: string, change: (text: string) => string) => {
    const path = join(project.root, file);
    await writeFile(path, change(await readFile(path, "utf8")));
  };

  it.each<[string, string, string, () => Promise<void> | void, string[]?]>([
    [
      "a folder without wrangler.toml",
      "project_invalid",
      "create-bert-edge",
      () => rm(join(project.root, "wrangler.toml")),
    ],
    [
      "a missing functions/edge.ts",
      "project_invalid",
      "functions/edge.ts",
      () => rm(join(project.root, "functions/edge.ts")),
    ],
    [
      "a Worker without an R2 binding",
      "project_invalid",
      "[[r2_buckets]]",
      () => edit("wrangler.toml", (text) => text.replace('binding = "MODELS"', 'binding = "OTHER"')),
    ],
    [
      "a wrangler.toml that is not TOML",
      "project_invalid",
      "wrangler.toml",
      () => edit("wrangler.toml", () => "name = "),
    ],
    ["a package that is not installed", "package_missing", "npm install", () => rm(join(project.root, "node_modules"))],
    ["another name for an artifact", "setting_invalid", "--name", () => {}, ["--name", "other"]],
  ])("%s", async (_, code, hint, prepareProject, args = []) => {
    await prepareProject();
    const { code: exit, stdout, stderr } = await dev([artifact, ...args]);
    expect({ exit, stdout }).toEqual({ exit: 1, stdout: "" });
    expect(stderr).toContain(`Error ${code}: `);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain("✓");
    expect(stderr).not.toContain("    at ");
  });

  it("a port in use", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await dev([artifact, "--port", `${port}`]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`Error setting_invalid: --port ${port} is in use by another program.`),
    });
  });

  it("a model that is not prepared yet, or misspelt: says how to make it, and which ones there are", async () => {
    const refusal = async (name: string) => (await dev([`models/${name}`])).stderr;
    expect(await refusal("my-model")).toMatch(
      /^\nError checkpoint_missing: models\/my-model does not exist\.\n {2}To make it from .*:\n {6}npx bert-edge prepare <folder> --name my-model --targets edge --out models\/my-model\n {2}More: npx bert-edge explain checkpoint_missing\n$/,
    );
    await mkdir(join(project.root, "models/bert-edge-mini"));
    await writeFile(join(project.root, "models/notes.json"), "{}");
    expect(await refusal("bert-mini")).toContain("models has: bert-edge-mini.");
    await rm(join(project.root, "models"), { recursive: true });
    expect(await refusal("my-model")).toContain("models/my-model does not exist.");
  });

  it("an artifact without a target for the edge", async () => {
    const copy = join(project.root, "models/tiny");
    await cp(artifact, copy, { recursive: true });
    await edit("models/tiny/manifest.json", (text) => text.replace('"edge":', '"regional-gpu":'));
    expect((await dev(["models/tiny"])).stderr).toContain(
      "Error target_missing: models/tiny has no target for the edge",
    );
  });

  it.each<[string, (file: string) => Promise<void>]>([
    ["missing", (file) => rm(file)],
    ["has 1000 bytes instead of", (file) => truncate(file, 1000)],
  ])("a file of the artifact that is damaged: %s", async (fault, damage) => {
    const copy = join(project.root, "models/tiny");
    await cp(artifact, copy, { recursive: true });
    const { manifest } = await openFolder(copy);
    await damage(join(copy, manifest.targets.edge?.model ?? ""));
    const { code, stderr } = await dev(["models/tiny"]);
    // The local R2, which may have all files, is not asked.
    const first = expect.stringMatching(new RegExp(`^\n.*artifact_corrupt.*${fault}`));
    expect({ code, stderr }).toEqual({ code: 1, stderr: first });
    expect(stderr).toContain("Restore models/tiny from Git");
  });

  it("a model that the Hub does not have", async () => {
    const { endpoint } = await hubServer({});
    const env = { HF_ENDPOINT: endpoint, HF_HUB_CACHE: await temporaryFolder() };
    const { code, stderr } = await dev(["org/model"], env);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("Error hub_model_missing") });
    expect(stderr).toContain("There is no model org/model on 127.0.0.1");
  });
});
