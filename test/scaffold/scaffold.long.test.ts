import { existsSync } from "node:fs";
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cleanEnv } from "../e2e/clean-env.ts";
import { temporaryFolder } from "../fixtures/temporary-folder.ts";
import { buildScaffolder, linkPackages } from "./scaffolder.ts";
import { noTerminal, runIn, runInTerminal } from "./terminal.ts";

const ESCAPE = "\x1b";
const CTRL_C = "\x03";
const DOWN = "\x1b[B";
const ENTER = "\r";

const filesOfEdge = [
  ".dev.vars",
  ".dev.vars.example",
  ".gitignore",
  ".npmrc",
  "README.md",
  "functions/edge-settings.ts",
  "functions/edge.ts",
  "package.json",
  "test/edge.test.js",
  "tsconfig.json",
  "wrangler.toml",
];

const templates: [flags: string[], files: string[], limit: number, dependencies: string[]][] = [
  [["--template", "edge"], [], 15, ["bert-edge", "hono"]],
  [["--model", "own"], [], 15, ["bert-edge", "hono"]],
  [
    ["--template", "edge+region"],
    [".dockerignore", "functions/region.ts", "functions/serve-until-terminated.ts", "infra/Dockerfile"],
    25,
    ["@hono/node-server", "bert-edge", "hono", "onnxruntime-node"],
  ],
  [
    ["--region", "aws"],
    ["functions/region.ts", "functions/serve-until-terminated.ts", "infra/bucket.yml", "serverless.yml"],
    25,
    ["@hono/node-server", "bert-edge", "hono", "onnxruntime-node"],
  ],
];

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith(".git/"))
    .sort();
}

const terminalMissing = await noTerminal();

describe("create-bert-edge", () => {
  let folder: string;
  let bin: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "create-bert-edge-"));
    bin = await buildScaffolder(folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const create = (cwd: string, args: readonly string[], env?: NodeJS.ProcessEnv) =>
    runIn(cwd, [process.execPath, bin, ...args], env);

  const checkTypes = (project: string) => runIn(project, [process.execPath, "node_modules/typescript/bin/tsc"]);

  describe.each(templates)("%j", (flags, files, limit, dependencies) => {
    let project: string;
    beforeAll(async () => {
      const parent = await mkdtemp(join(folder, "parent-"));
      project = join(parent, "my-api");
      expect(await create(parent, ["my-api", "--no-install", ...flags])).toMatchObject({ code: 0, stderr: "" });
    });

    it("has few files", async () => {
      const all = await filesOf(project);
      const model = all.filter((path) => path.startsWith("models/"));
      expect(all.filter((path) => !model.includes(path))).toEqual([...filesOfEdge, ...files].sort());
      expect(all.length - model.length).toBeLessThanOrEqual(limit);
      expect(model).toEqual(
        flags.includes("own")
          ? []
          : ["manifest.json", "measurements.json", "model.int8.onnx", "tokenizer.json", "tokenizer_config.json"].map(
              (file) => `models/bert-edge-mini/${file}`,
            ),
      );
    });

    it("depends on bert-edge and on what the template needs", async () => {
      const manifest = JSON.parse(await readFile(join(project, "package.json"), "utf8"));
      expect(manifest.name).toBe("my-api");
      expect(Object.keys(manifest.dependencies)).toEqual(dependencies);
      expect(Object.keys(manifest.devDependencies)).toEqual([
        "@types/node",
        ...(files.length > 0 ? ["esbuild"] : []),
        "typescript",
        "wrangler",
      ]);
      if (flags.includes("aws")) expect(manifest.scripts["deploy:region"]).toMatch(/npx osls@\^\d.* deploy/);
      expect(Object.values({ ...manifest.dependencies, ...manifest.devDependencies })).not.toContain(undefined);
    });

    it("names Worker, bucket and model, and nothing of this repository", async () => {
      const toml = await readFile(join(project, "wrangler.toml"), "utf8");
      const model = flags.includes("own") ? "my-model" : "bert-edge-mini";
      expect(toml).toMatch(/^name = "my-api"$/m);
      expect(toml).toMatch(/^bucket_name = "my-api-models"$/m);
      expect(toml).toMatch(new RegExp(`^MODEL = "${model}"$`, "m"));
      for (const path of await filesOf(project)) {
        if (path.startsWith("models/")) continue;
        expect(await readFile(join(project, path), "utf8"), path).not.toMatch(
          /(?<!aws-)sdk|COPY create|tsconfig\.base|npm run build -w/,
        );
      }
    });

    it("lists in README.md where the model's name is written", async () => {
      const paths: string[] = [];
      for (const path of await filesOf(project)) {
        if (path.startsWith("models/") || path === "README.md") continue;
        if ((await readFile(join(project, path), "utf8")).includes("bert-edge-mini")) paths.push(path);
      }
      const [list = ""] = /^Then write `my-model` .*/m.exec(await readFile(join(project, "README.md"), "utf8")) ?? [];
      const listed = [...list.matchAll(/`([^`]+)`/g)].slice(2).map(([, path]) => path);
      expect(listed.sort()).toEqual(paths);
      expect(paths.length > 0).toBe(!flags.includes("own"));
      const text = await readFile(join(project, "README.md"), "utf8");
      expect(/^For another name than `my-model`, .*`wrangler\.toml`/m.test(text)).toBe(flags.includes("own"));
      expect(text).toContain("/docs`");
    });

    it("has the right types", async () => {
      await linkPackages(project);
      expect(await checkTypes(project)).toEqual({ code: 0, stdout: "", stderr: "" });
    });
  });

  // Every template has the same tsconfig.json.
  it("checks the types of tests", async () => {
    const parent = await temporaryFolder();
    await create(parent, ["my-api", "--no-install"]);
    const project = join(parent, "my-api");
    await linkPackages(project);
    const wrong = 'import { BertEdge } from "bert-edge/client";\nnew BertEdge({});\n';
    await writeFile(join(project, "test/wrong.js"), wrong);
    expect((await checkTypes(project)).stdout).toMatch(/test\/wrong\.js.*baseURL/);
  });

  describe.each([
    ["container", ["--template", "edge+region"]],
    ["aws", ["--region", "aws"]],
  ])("--add region --region %s", (region, flags) => {
    const add = (project: string, ...more: string[]) =>
      create(project, ["--add", "region", "--region", region, "--no-install", ...more]);
    const contentsOf = async (project: string) => {
      const paths = (await filesOf(project)).filter((path) => path !== ".dev.vars");
      return new Map(
        await Promise.all(paths.map(async (path) => [path, await readFile(join(project, path), "latin1")] as const)),
      );
    };

    it("makes the project that a new one with a region is, and does nothing when it is there", async () => {
      const [parent, other] = [await temporaryFolder(), await temporaryFolder()];
      await create(parent, ["my-api", "--no-install"]);
      await create(other, ["my-api", "--no-install", ...flags]);
      const [project, wanted] = [join(parent, "my-api"), await contentsOf(join(other, "my-api"))];
      expect(await add(project)).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("npm start") });
      const found = await contentsOf(project);
      expect([...found.keys()]).toEqual([...wanted.keys()]);
      // README.md has the same section, at its end.
      const [, section = ""] = /(## Deploy the region.*?)(?=\n## )/s.exec(wanted.get("README.md") ?? "") ?? [];
      expect(found.get("README.md")).toContain(section.trimEnd());
      const { scripts, dependencies, devDependencies } = JSON.parse(wanted.get("package.json") ?? "");
      expect(JSON.parse(found.get("package.json") ?? "")).toMatchObject({ scripts, dependencies, devDependencies });
      const differing = [...wanted].filter(([path, content]) => found.get(path) !== content).map(([path]) => path);
      expect(differing.filter((path) => !["README.md", "package.json", ".gitignore"].includes(path))).toEqual([]);
      const ignored = (files: typeof found) => (files.get(".gitignore") ?? "").split("\n").sort();
      expect(ignored(found)).toEqual(ignored(wanted));
      expect(await add(project)).toMatchObject({ code: 0 });
      expect(await contentsOf(project)).toEqual(found);
    });

    it("keeps what the developer has, takes the names of wrangler.toml, and says how to prepare the model", async () => {
      const parent = await temporaryFolder();
      await create(parent, ["my-api", "--no-install", "--model", "own"]);
      const project = join(parent, "my-api");
      const toml = join(project, "wrangler.toml");
      await writeFile(
        toml,
        (await readFile(toml, "utf8")).replace('"my-model"', '"minilm,sentiment"').replace("my-api-models", "weights"),
      );
      const file = join(project, "package.json");
      const manifest = JSON.parse(await readFile(file, "utf8"));
      await writeFile(file, JSON.stringify({ ...manifest, dependencies: { ...manifest.dependencies, hono: "4.0.0" } }));
      const { stdout } = await create(parent, ["--add", "region", "--region", region, "--no-install", "my-api"]);
      expect(stdout).toContain("prepare <model folder> --name minilm --targets edge,regional-cpu");
      expect(JSON.parse(await readFile(file, "utf8")).dependencies.hono).toBe("4.0.0");
      expect(await readFile(join(project, "functions/region.ts"), "utf8")).toContain('MODEL ?? "minilm,sentiment"');
      const readme = await readFile(join(project, "README.md"), "utf8");
      expect(readme).toContain(region === "container" ? "S3_BUCKET=weights" : "models/minilm --to s3://");
    });

    it("writes nothing if a file or a script is in the way, or outside of a project", async () => {
      const parent = await temporaryFolder();
      expect(await add(parent)).toMatchObject({ code: 1, stderr: expect.stringContaining("project_missing") });
      await create(parent, ["my-api", "--no-install"]);
      const project = join(parent, "my-api");
      await writeFile(join(project, "functions/region.ts"), "// mine\n");
      const file = join(project, "package.json");
      await writeFile(
        file,
        (await readFile(file, "utf8")).replace('"scripts": {', '"scripts": {\n    "build": "mine",'),
      );
      const before = await contentsOf(project);
      const { code, stderr } = await add(project);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/file_exists: .*functions\/region\.ts, the script build of package\.json/),
      ]);
      expect(await contentsOf(project)).toEqual(before);
    });
  });

  it.each([
    ["free", "10"],
    ["paid", "30_000"],
  ])("sets the CPU time of the %s plan", async (plan, limit) => {
    const parent = await temporaryFolder();
    await create(parent, ["my-api", "--no-install", "--plan", plan]);
    expect(await readFile(join(parent, "my-api/functions/edge-settings.ts"), "utf8")).toContain(
      `cpuLimitMs: ${limit},`,
    );
    expect(await readFile(join(parent, "my-api/README.md"), "utf8")).toContain("10 ms");
  });

  it("makes another API key for each project, which Git ignores", async () => {
    const parent = await temporaryFolder();
    for (const name of ["one", "two"]) await create(parent, [name, "--no-install"]);
    const keys = await Promise.all(["one", "two"].map((name) => readFile(join(parent, name, ".dev.vars"), "utf8")));
    for (const key of keys) expect(key).toMatch(/^API_KEYS=[0-9a-f-]{36}\n$/);
    expect(keys[0]).not.toBe(keys[1]);
    expect((await stat(join(parent, "one/.dev.vars"))).mode & 0o777).toBe(0o600);
    for (const secret of [".env", ".env.production", ".dev.vars.production"]) {
      await writeFile(join(parent, "one", secret), "");
    }
    const { stdout } = await runIn(join(parent, "one"), ["git", "status", "--short", "--untracked-files=all"]);
    expect(stdout).toContain("?? wrangler.toml");
    expect(stdout.match(/\.(env|dev).*/g)).toEqual([".dev.vars.example"]);
  });

  it("makes no Git repository inside another one, nor with --no-git", async () => {
    const parent = await temporaryFolder();
    await create(parent, ["alone", "--no-install", "--no-git"]);
    expect(existsSync(join(parent, "alone/.git"))).toBe(false);
    await runIn(parent, ["git", "init"]);
    await create(parent, ["inside", "--no-install"]);
    expect(existsSync(join(parent, "inside/.git"))).toBe(false);
  });

  it("quotes a path with a space in the next steps", async () => {
    const { stdout } = await create(await temporaryFolder(), ["my folder/api", "--no-install"]);
    expect(stdout).toContain('cd "my folder/api"');
  });

  it.each(["18.20.0", "22.11.9"])("refuses Node %s in one sentence", async (version) => {
    const set = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`;
    const outcome = await runIn(folder, [process.execPath, "--import", set, bin]);
    expect(outcome).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(`this is ${version}.`) });
  });

  it.each([
    [["My API"], "name_invalid", /"My API".*\n.*"my-api"/],
    [["my api"], "name_invalid", /"my-api"/],
    [["my-api", "--tempalte", "edge", "--fast"], "flag_unknown", /--tempalte, --fast/],
    [["my-api", "--plan"], "flag_invalid", /--plan/],
    [["full"], "folder_occupied", /notes\.txt/],
    [["full/notes.txt/api"], "folder_unusable", /ENOTDIR/],
  ])("refuses %j with %s, and writes nothing", async (args, code, message) => {
    const parent = await temporaryFolder();
    await runIn(parent, ["mkdir", "full"]);
    await writeFile(join(parent, "full/notes.txt"), "");
    const outcome = await create(parent, [...args, "--no-install"]);
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringMatching(message) });
    expect(outcome.stderr).toContain(`Error ${code}: `);
    expect(await filesOf(parent)).toEqual(["full/notes.txt"]);
  });

  describe("the package manager", () => {
    /** Makes a folder with a program that writes its arguments to a file, and then exits with a code. */
    async function fakeManager(name: string, code: number): Promise<string> {
      const programs = await temporaryFolder();
      await writeFile(
        join(programs, name),
        `#!/bin/sh\n[ "$1" = --version ] && exit\necho "$@" > installed-with\nexit ${code}\n`,
      );
      await chmod(join(programs, name), 0o755);
      return programs;
    }

    it("is the running one, installs the dependencies and is named in the next steps", async () => {
      const parent = await temporaryFolder();
      const outcome = await create(parent, ["my-api"], {
        PATH: `${await fakeManager("pnpm", 0)}${delimiter}${cleanEnv.PATH}`,
        npm_config_user_agent: "pnpm/10.1.0 npm/? node/v24.0.0 linux x64",
      });
      expect(outcome).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/cd my-api\n\s+pnpm start .*\n\s+pnpm test /),
      });
      expect(await readFile(join(parent, "my-api/installed-with"), "utf8")).toBe("install\n");
      expect(existsSync(join(parent, "my-api/pnpm-workspace.yaml"))).toBe(true);
    });

    it("must be installed: otherwise nothing is written", async () => {
      const parent = await temporaryFolder();
      const outcome = await create(parent, ["my-api", "--package-manager", "bun"], { PATH: await temporaryFolder() });
      expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining("bun is not installed") });
      expect(await filesOf(parent)).toEqual([]);
    });

    it("gets settings for each of its versions", async () => {
      const parent = await temporaryFolder();
      await create(parent, ["my-api", "--no-install", "--package-manager", "yarn"]);
      expect(await readFile(join(parent, "my-api/.yarnrc"), "utf8")).toMatch(/^ignore-scripts true$/m);
      expect(await readFile(join(parent, "my-api/.yarnrc.yml"), "utf8")).toMatch(/^enableScripts: false$/m);
    });

    it("can fail: the files stay, and the message says how to go on", async () => {
      const parent = await temporaryFolder();
      const outcome = await create(parent, ["my-api", "--package-manager", "bun"], {
        PATH: `${await fakeManager("bun", 1)}${delimiter}${cleanEnv.PATH}`,
      });
      expect(outcome).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(/cd my-api\n\s+bun install\n\s+bun run start /),
        stderr: expect.stringContaining("`bun install` failed"),
      });
      expect(existsSync(join(parent, "my-api/wrangler.toml"))).toBe(true);
    });
  });

  describe.skipIf(terminalMissing)(`in a terminal${terminalMissing ? ` (skipped: ${terminalMissing})` : ""}`, () => {
    const command = (...args: string[]) => [process.execPath, bin, "--no-install", ...args];

    it("asks in whole lines on a terminal that reports no width", async () => {
      const parent = await temporaryFolder();
      const { code, output } = await runInTerminal(
        parent,
        ["stty cols 0;", ...command("my-api")],
        [
          ["Flags answer these questions too: see --help.", ""],
          ["Which model do you want to serve?", ENTER],
          ["Which Workers plan do you have?", ENTER],
          ["Do you want a region", CTRL_C],
        ],
      );
      expect(code).toBe(0);
      expect(output).toContain("Nothing was created.");
    });

    it("asks for everything", async () => {
      const parent = await temporaryFolder();
      const { code, output } = await runInTerminal(parent, command(), [
        ["In which folder", `asked${ENTER}`],
        ["Which model", DOWN + ENTER],
        ["Which Workers plan", DOWN + ENTER],
        ["Do you want a region", DOWN + ENTER],
        ["Which package manager", DOWN + ENTER],
      ]);
      expect(code).toBe(0);
      expect(output).toContain("pnpm install");
      const files = await filesOf(join(parent, "asked"));
      expect(files).toContain("serverless.yml");
      expect(files).toContain("pnpm-workspace.yaml");
      expect(files).not.toContain("models/bert-edge-mini/manifest.json");
      expect(await readFile(join(parent, "asked/functions/edge-settings.ts"), "utf8")).toContain("cpuLimitMs: 30_000,");
    });

    it("asks again for a name that cannot be used, and only for what no flag says", async () => {
      const parent = await temporaryFolder();
      const { code } = await runInTerminal(
        parent,
        command("--plan", "free", "--template", "edge", "--package-manager", "npm"),
        [
          ["In which folder", `My API${ENTER}`],
          ["cannot be the name of a Worker", `${"\b".repeat("My API".length)}my-api${ENTER}`],
          ["Which model", ENTER],
        ],
      );
      expect(code).toBe(0);
      expect(await filesOf(join(parent, "my-api"))).toContain("models/bert-edge-mini/manifest.json");
    });

    it.each([
      ["Ctrl-C", CTRL_C],
      ["Escape", ESCAPE],
    ])("ends at %s with exit code 0, and writes nothing", async (_, key) => {
      const parent = await temporaryFolder();
      const { code, output } = await runInTerminal(parent, command("my-api"), [
        ["Which model", ENTER],
        ["Which Workers plan", key],
      ]);
      expect(code).toBe(0);
      expect(output).toContain("Nothing was created.");
      expect(await readdir(parent)).toEqual([]);
    });

    it.each([
      ["in CI", [], { CI: "true" }],
      ["with -y", ["-y"], {}],
    ])("asks nothing %s", async (_, flags, env) => {
      const parent = await temporaryFolder();
      const { code, output } = await runInTerminal(parent, command(...flags), [], env);
      expect(code).toBe(0);
      expect(output).not.toContain("Which");
      expect(await filesOf(join(parent, "my-api"))).toContain("wrangler.toml");
    });
  });
});
