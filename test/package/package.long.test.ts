import { cp, glob, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";
import { checkTypes, entries, installedProject, runNode, threeLineExample } from "./install.ts";

const importing = (paths: readonly string[]): string[] => [
  "--input-type=module",
  "--eval",
  paths.map((path) => `if (Object.keys(await import("${path}")).length === 0) throw new Error("${path}");`).join("\n"),
];

describe("the packed package in an empty project", () => {
  let alone: string;
  let complete: string;
  beforeAll(async () => {
    [alone, complete] = await Promise.all([installedProject({ peers: false }), installedProject({ peers: true })]);
    await writePreparableCheckpoint(join(alone, "checkpoint"));
    await prepare({ model: join(alone, "checkpoint"), out: join(alone, "artifact"), name: "tiny", targets: ["edge"] });
  });
  afterAll(async () => {
    for (const folder of [alone, complete]) if (folder) await rm(folder, { recursive: true, force: true });
  });

  it("runs the README's example without any optional package", async () => {
    await writeFile(join(alone, "example.mjs"), await threeLineExample());
    expect(await runNode(alone, ["example.mjs"])).toBe("16,16\n");
  });

  it("imports every entry with the optional packages", async () => {
    await runNode(complete, importing(entries));
  });

  it("has types for every entry, and for the kernels", async () => {
    const paths = [...entries, "bert-edge/kernels/relaxed.wasm", "bert-edge/kernels/simd.wasm"];
    await writeFile(
      join(complete, "all.ts"),
      paths.map((path, i) => `import * as m${i} from "${path}";\nm${i};`).join("\n"),
    );
    await checkTypes(complete);
  });

  it("has a README and the license", async () => {
    const files = await readdir(join(alone, "node_modules/bert-edge"));
    expect(files.sort()).toEqual(["LICENSE", "README.md", "bin", "dist", "package.json", "types"]);
    const [packed, own] = await Promise.all(
      [join(alone, "node_modules/bert-edge/LICENSE"), "LICENSE"].map((path) => readFile(path, "utf8")),
    );
    expect(packed).toBe(own);
  });

  it("names no files that it does not have: in messages, hints and its README", async () => {
    const folder = join(alone, "node_modules/bert-edge");
    const named = /(?<![\w/.-])(?:docs|infra|bench|test)\/[\w./-]+|[\w/-]+\.md\b/g;
    const found: string[] = [];
    for await (const path of glob("{README.md,dist/**/*.js}", { cwd: folder })) {
      const text = await readFile(join(folder, path), "utf8");
      // Only removes the comments.
      const { code } = path.endsWith(".js") ? await transform(text) : { code: text };
      for (const [name] of code.replace(/https?:\/\/\S+/g, "").matchAll(named)) {
        if (name !== "README.md") found.push(`${path}: ${name}`);
      }
    }
    expect(found).toEqual([]);
  });

  it("has the command, which runs without the project's sources", async () => {
    await cp(join(alone, "artifact"), join(complete, "artifact"), { recursive: true });
    const command = "node_modules/bert-edge/bin/bert-edge.js";
    expect(await runNode(complete, [command, "--version"])).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await runNode(complete, [command, "verify", "artifact"])).toContain("wasm");
  });
});
