// Builds programs with the bundlers of the npm registry, runs them where no package is installed, and compares their vectors with Node's.
import { execFile, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "#sdk/cli/dev/process.ts";
import { commandLine } from "../commands/command-line.ts";
import { runCommand } from "../fixtures/run-command.ts";
import { pack } from "../package/install.ts";
import { type Bundler, bundlers, JEST, packages } from "./bundlers.ts";
import { writePrograms } from "./programs.ts";

const { values } = commandLine(
  "npm run e2e:bundlers -- [--only <part of a name>]\nBuilds programs with bundlers, from the npm registry, and runs them elsewhere.",
  { only: { type: "string", default: "" } },
);

const exec = promisify(execFile);
const project = await mkdtemp(join(tmpdir(), "bert-edge-bundlers-"));
const away = await mkdtemp(join(tmpdir(), "bert-edge-bundle-"));

async function fromServer(script: string, env: NodeJS.ProcessEnv): Promise<string> {
  const port = await freePort();
  const server = spawn(process.execPath, [script], {
    cwd: dirname(script),
    env: { ...env, PORT: String(port), HOSTNAME: "127.0.0.1" },
    stdio: ["ignore", 2, 2],
  });
  try {
    for (let tries = 0; tries < 100 && server.exitCode === null; tries++) {
      const response = await fetch(`http://127.0.0.1:${port}/api/embed`).catch(() => undefined);
      if (response) return await response.text();
      await sleep(200);
    }
    throw new Error(`${script} does not answer`);
  } finally {
    server.kill();
  }
}

/** Builds with a bundler, and runs what it has built in another folder. Returns what each program prints. */
async function outputs({ files = {}, build, built = "built", runs, isServer }: Bundler, env: NodeJS.ProcessEnv) {
  for (const folder of ["built", ".next"]) await rm(join(project, folder), { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
  const [command = "", ...args] = build;
  await runCommand(project, join(project, "node_modules/.bin", command), ...args);
  const place = await mkdtemp(join(away, "run-"));
  await cp(join(project, built), place, { recursive: true, verbatimSymlinks: true });
  const printed: string[] = [];
  for (const name of runs) {
    const path = join(place, name);
    const started = /\.\w+$/.test(name) ? ([process.execPath, [path]] as const) : ([path, []] as const);
    if (isServer) printed.push(await fromServer(path, env));
    else printed.push((await exec(started[0], started[1], { cwd: place, env })).stdout.trim());
  }
  return printed;
}

const report = (name: string, problem: unknown) => {
  console.log(`${name}: ${problem ? `FAILED: ${problem}` : "the vector of Node"}`);
  if (problem) process.exitCode = 1;
};

try {
  const allowScripts = { bun: true, esbuild: true };
  await writeFile(join(project, "package.json"), JSON.stringify({ type: "module", private: true, allowScripts }));
  const archive = await pack("sdk", project);
  await runCommand(project, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", ...packages, archive);
  const { vector, env } = await writePrograms(project);
  const settings = { ...env, NEXT_TELEMETRY_DISABLED: "1" };
  Object.assign(process.env, { NEXT_TELEMETRY_DISABLED: "1" });
  for (const bundler of bundlers.filter(({ name }) => name.includes(values.only))) {
    try {
      const different = (await outputs(bundler, settings)).filter((each) => each !== vector);
      report(bundler.name, different.map((each) => each.slice(0, 200)).join());
    } catch (error) {
      report(bundler.name, error);
    }
  }
  if ("Jest".includes(values.only)) {
    await writeFile(join(project, "embed.test.cjs"), JEST);
    const jest = ["node_modules/jest/bin/jest.js", "--testMatch", "**/*.test.cjs"];
    const options = { cwd: project, env: { ...settings, VECTOR: vector, NODE_OPTIONS: "--experimental-vm-modules" } };
    report("Jest, in CommonJS", await exec(process.execPath, jest, options).then(() => "", String));
  }
} finally {
  for (const folder of [project, away]) await rm(folder, { recursive: true, force: true });
}
