// Builds programs with the bundlers of the npm registry, runs them where no package is installed, and compares their vectors with Node's.
import { execFile, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, mkdtempDisposable, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "#sdk/cli/dev/ports.ts";
import { commandLine } from "../commands/command-line.ts";
import { runCommand } from "../fixtures/run-command.ts";
import { pack } from "../package/install.ts";
import { type Bundler, type BundlerProject, JEST, projects } from "./bundlers.ts";
import { writePrograms } from "./programs.ts";

const { values } = commandLine(
  "npm run e2e:bundlers -- [--only <part of a name>]\nBuilds programs with bundlers, from the npm registry, and runs them elsewhere.",
  { only: { type: "string", default: "" } },
);

const exec = promisify(execFile);
const away = await mkdtemp(join(tmpdir(), "bert-edge-bundle-"));

async function fromServer(script: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const port = await freePort();
  const server = spawn(process.execPath, [script], {
    cwd: dirname(script),
    env: { ...env, PORT: String(port), HOSTNAME: "127.0.0.1" },
    stdio: ["ignore", 2, 2],
  });
  try {
    for (let tries = 0; tries < 100 && server.exitCode === null; tries++) {
      const response = await fetch(`http://127.0.0.1:${port}/api/embed`).catch(() => undefined);
      if (response) {
        const pool = await fetch(`http://127.0.0.1:${port}/api/pool`);
        return [await response.text(), await pool.text()];
      }
      await sleep(200);
    }
    throw new Error(`${script} does not answer`);
  } finally {
    server.kill();
  }
}

/** Builds with a bundler, and runs what it has built, in another folder unless `runsInside`. Returns what each program prints. */
async function outputs(
  project: string,
  { files = {}, build, built = "built", runs, isServer }: Bundler,
  { env, runsInside = false }: { env: NodeJS.ProcessEnv; runsInside: boolean | undefined },
) {
  for (const folder of ["built", ".next"]) await rm(join(project, folder), { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
  const [command = "", ...args] = build;
  await runCommand(project, join(project, "node_modules/.bin", command), ...args);
  const place = runsInside ? join(project, built) : await mkdtemp(join(away, "run-"));
  if (!runsInside) await cp(join(project, built), place, { recursive: true, verbatimSymlinks: true });
  const printed: string[] = [];
  for (const name of runs) {
    const path = join(place, name);
    const started = /\.\w+$/.test(name) ? ([process.execPath, [path]] as const) : ([path, []] as const);
    if (isServer) printed.push(...(await fromServer(path, env)));
    else printed.push((await exec(started[0], started[1], { cwd: place, env })).stdout.trim());
  }
  return printed;
}

const report = (name: string, problem: unknown) => {
  console.log(`${name}: ${problem ? `FAILED: ${problem}` : "right"}`);
  if (problem) process.exitCode = 1;
};

const isWanted = ({ name }: { name: string }) => name.includes(values.only);
/** Two versions of Jest, by the folders that they are installed in. */
const JESTS = ["jest", "jest29"];
const jestsOf = ({ packages }: BundlerProject) =>
  (packages.includes("jest") ? JESTS : []).filter((name) => isWanted({ name }));

async function tryProject(
  project: string,
  { packages, bundlers, runsInside }: BundlerProject,
  jests: readonly string[],
) {
  const allowScripts = { bun: true, esbuild: true };
  await writeFile(join(project, "package.json"), JSON.stringify({ type: "module", private: true, allowScripts }));
  const archive = await pack("sdk", project);
  await runCommand(project, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", ...packages, archive);
  const { vector, env } = await writePrograms(project);
  const expected = runsInside ? "prepared" : vector;
  for (const bundler of bundlers) {
    try {
      const different = (await outputs(project, bundler, { env, runsInside })).filter((each) => each !== expected);
      report(bundler.name, different.map((each) => each.slice(0, 200)).join());
    } catch (error) {
      report(bundler.name, error);
    }
  }
  for (const jest of jests) {
    await writeFile(join(project, "embed.test.cjs"), JEST);
    const args = [`node_modules/${jest}/bin/jest.js`, "--testMatch", "**/*.test.cjs"];
    const options = { cwd: project, env: { ...env, VECTOR: vector, NODE_OPTIONS: "--experimental-vm-modules" } };
    const { version } = JSON.parse(await readFile(join(project, `node_modules/${jest}/package.json`), "utf8"));
    report(`Jest ${version}, in CommonJS`, await exec(process.execPath, args, options).then(() => "", String));
  }
}

// Programs inherit them.
Object.assign(process.env, { NEXT_TELEMETRY_DISABLED: "1", ONNXRUNTIME_NODE_INSTALL: "skip" });
try {
  for (const each of projects) {
    const bundlers = each.bundlers.filter(isWanted);
    const jests = jestsOf(each);
    if (bundlers.length + jests.length === 0) continue;
    await using project = await mkdtempDisposable(join(tmpdir(), "bert-edge-bundlers-"));
    await tryProject(project.path, { ...each, bundlers }, jests);
  }
} finally {
  await rm(away, { recursive: true, force: true });
}
