import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageJson } from "../../create-bert-edge/src/files/package-json.ts";
import type { Project } from "../../create-bert-edge/src/project.ts";
import { projectFiles } from "../../create-bert-edge/src/project-files.ts";
import { documents, wrongCommands } from "./commands.ts";

const project = (region: Project["region"]): Project => ({
  ...{ name: "my-api", model: "embedded", plan: "free", region, packageManager: "npm" },
});
/** Reads a file that created projects get: of the template, or of this repository. */
function read(path: string): string {
  const ofTemplate = join("create-bert-edge/template", path);
  return readFileSync(existsSync(ofTemplate) ? ofTemplate : path, "utf8");
}
const scriptsOf = (each: Project) => (JSON.parse(packageJson(each)) as { scripts: Record<string, string> }).scripts;
const scripts = scriptsOf(project("aws"));

describe("the commands of the documents", () => {
  it.each(documents())("can be run: $path", (page) => {
    expect(wrongCommands(page, scripts)).toEqual([]);
  });

  it.each(["none", "aws", "container"] as const)("can be run: README.md of a created project, region %s", (region) => {
    const created = project(region);
    const text = projectFiles(created, read).get("README.md") ?? "";
    expect(wrongCommands({ path: "README.md", text, scripts: scriptsOf(created) }, scripts)).toEqual([]);
  });
});

describe("wrongCommands", () => {
  const wrong = (...lines: string[]) => wrongCommands({ path: "a.md", text: lines.join("\n") }, scripts);
  const block = (...lines: string[]) => wrong("```sh", ...lines, "```");

  it("finds commands that do not exist, in blocks and in the text", () => {
    expect(wrong("Run it.", "Then `npm run nothing` helps.")).toEqual(["a.md:2: There is no script nothing."]);
    expect(block("npm ci && npm run nothing # again")).toEqual(["a.md:2: There is no script nothing."]);
    expect(block("", "npx nothing --fast")).toEqual(["a.md:3: nothing is the command of no dependency."]);
    expect(block("A=b npx bert-edge nothing")).toEqual(["a.md:2: bert-edge has no command nothing."]);
    expect(wrong("`bert-edge keys nothing --bogus`")).toEqual(["a.md:1: bert-edge keys has no option --bogus."]);
    expect(block("cat x | npx bert-edge keys hash --key x")).toEqual(["a.md:2: bert-edge hash has no option --key."]);
    expect(block("npx vitest run sdk/nothing -t x")).toEqual(["a.md:2: There are no tests at sdk/nothing."]);
    expect(block("npm run bench -- nothing")).toEqual(["a.md:2: nothing is no benchmark."]);
    expect(wrong("`npm run fuzz -- --only program --bogus 3`")).toEqual([
      "a.md:1: test/fuzz/index.ts has no option --bogus.",
    ]);
  });

  it("looks for the scripts of a project where a block makes one, and where a line says so", () => {
    expect(block("npx create-bert-edge x", "npm run deploy")).toEqual([]);
    expect(block("npm run deploy")).toEqual(["a.md:2: There is no script deploy."]);
    expect(block("npm run deploy:region # in a project", "npm run deploy")).toEqual([
      "a.md:3: There is no script deploy.",
    ]);
    expect(block("npx create-bert-edge x", "npm run bench")).toEqual(["a.md:3: There is no script bench."]);
  });

  it("accepts what exists", () => {
    const lines = [
      "npm ci && npm test",
      "npm run --silent eval -- sts --json",
      "npx vitest run sdk/src/storage test/docs/commands.test.ts",
      "npx biome check --write .",
      "source <(npx bert-edge completion bash)",
      "(umask 077; npx bert-edge keys new --name web > web.key)",
    ];
    expect(block(...lines)).toEqual([]);
  });
});
