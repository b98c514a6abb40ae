import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";
import { entries, installedCommand, installedProject, runNode } from "./install.ts";

describe("the packed package without its optional packages", () => {
  let project: string;
  beforeAll(async () => {
    project = await installedProject({ peers: false });
    await writeFile(join(project, "pnpm-lock.yaml"), "");
    await writePreparableCheckpoint(join(project, "checkpoint"));
    await prepare({
      ...{ model: join(project, "checkpoint"), out: join(project, "artifact"), name: "tiny" },
      targets: ["edge", "regional-cpu"],
    });
  });
  afterAll(async () => {
    if (project) await rm(project, { recursive: true, force: true });
  });

  it.each([
    ["onnxruntime-node", ["prepare", "checkpoint", "--out", "new"]],
    ["onnxruntime-node", ["optimize", "checkpoint", "new.onnx"]],
    ["onnxruntime-node", ["quantize", "checkpoint", "new.onnx", "--mode", "int8-dynamic"]],
    ["onnxruntime-node", ["verify", "artifact"]],
    ["onnxruntime-node", ["bench", "artifact"]],
    ["onnxruntime-node", ["embed", "artifact"]],
    ["onnxruntime-web", ["embed", "artifact", "--engine", "ort-web"]],
    ["@aws-sdk/client-s3", ["publish", "artifact", "--to", "s3://bucket"]],
  ])("names %s and the command that adds it, and does nothing else: %j", async (name, args) => {
    const { code, stdout, stderr } = await installedCommand(project, args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^\nError package_missing: The package \S+ is not installed\. .*\n.*\n {2}More: .*\n$/);
    expect(stderr).toContain(`The package ${name} is`);
    expect(stderr).toContain(`\n  Add it with: pnpm add ${name}\n`);
  });

  it("embeds with the wasm engine, and publishes to a folder", async () => {
    const embedded = await installedCommand(project, ["embed", "artifact", "--engine", "wasm"], { stdin: "to be\n" });
    expect(embedded).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(embedded.stdout)).toHaveLength(16);
    expect(await installedCommand(project, ["publish", "artifact", "--to", "assets:public"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("is current at public"),
    });
  });

  it("loads every entry but bert-edge/serve, whose error names hono", async () => {
    const script = `for (const entry of ${JSON.stringify(entries)})
      await import(entry).then(
        (module) => Object.keys(module).length === 0 && console.log(entry, "is empty"),
        ({ code, message }) => console.log(entry, code, /package 'hono'/.test(message)),
      );`;
    const printed = await runNode(project, ["--input-type=module", "--eval", script]);
    expect(printed).toBe("bert-edge/serve ERR_MODULE_NOT_FOUND true\n");
  });

  it("throws package_missing in the library, when the package is first needed", async () => {
    await writeFile(
      join(project, "library.mjs"),
      `import { loadModel } from "bert-edge";
      import { bench, optimize, prepare, quantize, verify } from "bert-edge/compile";
      import { ortNodeEngine } from "bert-edge/engine/ort-node";
      import { ortWebEngine } from "bert-edge/engine/ort-web";
      import { s3Publisher } from "bert-edge/storage/s3-publisher";
      const calls = [
        () => prepare({ model: "checkpoint" }),
        () => optimize({ model: "checkpoint" }),
        () => quantize({ model: "checkpoint", mode: "fp16" }),
        () => verify({ artifact: "artifact" }),
        () => bench({ artifact: "artifact" }),
        () => loadModel("artifact", { engine: ortNodeEngine() }),
        () => ortWebEngine({ wasm: undefined }).load({ read: async () => new Uint8Array() }),
        () => s3Publisher({ bucket: "bucket" }).head("key"),
      ];
      for (const call of calls) await call().catch(({ code, hint }) => console.log(code, hint));`,
    );
    const missing = (name: string) => `package_missing Add it with: npm install ${name}`;
    const lockfile = join(project, "package-lock.json");
    await writeFile(lockfile, "{}");
    onTestFinished(() => rm(lockfile));
    expect((await runNode(project, ["library.mjs"])).trim().split("\n")).toEqual([
      ...Array.from({ length: 6 }, () => missing("onnxruntime-node")),
      missing("onnxruntime-web"),
      missing("@aws-sdk/client-s3"),
    ]);
  });
});
