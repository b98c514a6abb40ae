// Packs bert-edge and create-bert-edge, and does what their first users do, with the npm registry: create a project,
// install, start, send a request, test, check, deploy without uploading. On Node 22 and 24, with each template.

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { BertEdge } from "#sdk/client/bert-edge.ts";
import { commandLine } from "../commands/command-line.ts";
import { cleanEnv, developerEnv } from "../e2e/clean-env.ts";
import { pack } from "../package/install.ts";
import { noTerminal, type Outcome, runIn, runInTerminal } from "./terminal.ts";

commandLine(`npm run e2e:scaffold
Creates projects, installs them from the npm registry, and runs their tests on Node 22 and 24.`);

/** From the start command to the first vector. */
const MAX_START_MS = 60_000;

/** The npm that comes with each Node. */
const runtimes = [
  { node: 22, npm: 10 },
  { node: 24, npm: 11 },
];

const templates = [
  { template: "edge", flags: ["--template", "edge"], maxMB: 330 },
  { template: "edge+region", flags: ["--region", "aws"], maxMB: 650 },
];

const folder = await mkdtemp(join(tmpdir(), "create-bert-edge-e2e-"));
try {
  const [sdk, scaffolder] = [await pack("sdk", folder), await pack("create-bert-edge", folder)];
  for (const { node, npm } of runtimes) {
    const env = await installRuntime(node, npm);
    for (const { template, flags, maxMB } of templates) {
      const place = join(folder, `node-${node}-${template}`);
      await mkdir(place);
      const project = join(place, "my-api");
      console.log(`\nNode ${node}, npm ${npm}, ${template}`);
      await step("create", () => runIn(place, [...createCommand(scaffolder), "my-api", ...flags], env));
      await step("install", () => runIn(project, ["npm", "install", sdk], env));
      await checkSize(project, maxMB);
      await checkStart(project, env);
      await step("test", () => runIn(project, ["npm", "test"], env));
      await step("check", () => runIn(project, ["npm", "run", "check"], env));
      await step("deploy -- --dry-run", () => runIn(project, ["npm", "run", "deploy", "--", "--dry-run"], env));
      if (flags.includes("aws")) {
        await step("build", () => runIn(project, ["npm", "run", "build"], env));
        await step("osls package", () => runIn(project, ["npx", "--yes", "osls@4", "package"], env));
      }
    }
    await createInteractively(scaffolder, join(folder, `node-${node}-interactive`), env);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Downloads nothing, because the package has no dependencies. */
function createCommand(scaffolder: string): [program: string, ...args: string[]] {
  return ["npm", "exec", "--yes", `--package=${scaffolder}`, "--", "create-bert-edge", "--no-install"];
}

/** Returns an environment with a version of Node and npm first in PATH. */
async function installRuntime(node: number, npm: number): Promise<NodeJS.ProcessEnv> {
  const place = join(folder, `runtime-${node}`);
  const name = `node-${process.platform}-${process.arch}`;
  await mkdir(place);
  const install: [program: string, ...args: string[]] = ["npm", "install", `${name}@${node}`, `npm@${npm}`];
  const { code, stderr } = await runIn(place, [...install, "--prefix", place], developerEnv());
  if (code !== 0) throw new Error(`Node ${node} and npm ${npm} cannot be installed:\n${stderr}`);
  const modules = join(place, "node_modules");
  return {
    ...developerEnv(),
    PATH: [join(modules, name, "bin"), join(modules, ".bin"), cleanEnv.PATH].join(delimiter),
  };
}

/** Runs a step and prints its time, and everything that it wrote to stderr. */
async function step(name: string, run: () => Promise<Outcome>): Promise<void> {
  const start = performance.now();
  const { code, stdout, stderr } = await run();
  print(name, seconds(performance.now() - start));
  for (const line of stderr.split("\n")) if (line.trim() !== "") console.log(`      ${line}`);
  if (code !== 0) throw new Error(`${name} failed:\n${stdout}\n${stderr}`);
}

async function checkSize(project: string, maxMB: number): Promise<void> {
  const { stdout } = await runIn(project, ["du", "-sm", "node_modules"]);
  const size = Number.parseInt(stdout, 10);
  print("node_modules", `${size} MB of ${maxMB}`);
  if (size > maxMB) fail(`node_modules has more than ${maxMB} MB.`);
}

/** Starts the project, and embeds a text with the URL and the key that it prints. */
async function checkStart(project: string, env: NodeJS.ProcessEnv): Promise<void> {
  const start = performance.now();
  const child = spawn("npm", ["start"], {
    cwd: project,
    env: { ...cleanEnv, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  try {
    let output = "";
    const [, baseURL = "", apiKey = ""] = await new Promise<RegExpExecArray>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
          const curl = /curl (http:\/\/[^/\s]+)\S* .*?Bearer ([^']+)'/s.exec(output);
          if (curl) resolve(curl);
        });
      }
      exit.then((code) => reject(new Error(`npm start ended with ${code}:\n${output}`)));
      setTimeout(
        () => reject(new Error(`npm start printed no request within a minute:\n${output}`)),
        MAX_START_MS,
      ).unref();
    });
    const { embeddings, tier } = await new BertEdge({ baseURL, apiKey }).embed("to be or not to be");
    const took = performance.now() - start;
    print("start to first vector", `${seconds(took)}, ${embeddings[0]?.length} dimensions from the ${tier}`);
    if (took > MAX_START_MS) fail("The first vector took more than a minute.");
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGINT");
    await exit;
  }
}

/** Creates a project in a pseudo-terminal, with the default answers. */
async function createInteractively(scaffolder: string, place: string, env: NodeJS.ProcessEnv): Promise<void> {
  const missing = await noTerminal();
  if (missing) return print("create in a terminal", `skipped: ${missing}`);
  await mkdir(place);
  const enter = "\r";
  const { code, output } = await runInTerminal(
    place,
    createCommand(scaffolder),
    [
      ["In which folder", `asked${enter}`],
      ["Which model", enter],
      ["Which Workers plan", enter],
      ["Do you want a region", enter],
      ["Which package manager", enter],
    ],
    env,
  );
  if (code !== 0) throw new Error(`The interactive run failed:\n${output}`);
  const { stdout } = await runIn(join(place, "asked"), ["ls", "-A"], env);
  print("create in a terminal", stdout.trim().split("\n").join(" "));
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function print(name: string, value: string): void {
  console.log(`  ${name.padEnd(22)} ${value}`);
}

function fail(message: string): void {
  console.error(`  ${message}`);
  process.exitCode = 1;
}
