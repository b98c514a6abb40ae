import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import project from "../../package.json" with { type: "json" };
import manifest from "../../sdk/package.json" with { type: "json" };

const exec = promisify(execFile);
const root = join(import.meta.dirname, "../..");

/** Packs a workspace like `npm publish`. Needs the build of that package. */
export async function pack(workspace: "sdk" | "create-bert-edge", destination: string): Promise<string> {
  const args = ["pack", join(root, workspace), "--pack-destination", destination, "--ignore-scripts", "--json"];
  const { stdout } = await exec("npm", args, { cwd: destination });
  const packed = JSON.parse(stdout) as { filename: string }[] | Record<string, { filename: string }>;
  return join(destination, Object.values(packed)[0]?.filename ?? "");
}

/**
 * Makes an empty project with the packed SDK in its node_modules. Needs no network: the SDK's dependencies are links to
 * the packages in this repository.
 *
 * @param peers whether to also link the optional packages and all packages that examples import
 */
export async function installedProject({ peers }: { peers: boolean }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-package-"));
  const modules = join(folder, "node_modules");
  await mkdir(modules);
  await exec("tar", ["-xzf", await pack("sdk", folder), "-C", modules]);
  await rename(join(modules, "package"), join(modules, manifest.name));
  const linked = new Set(Object.keys(manifest.dependencies));
  if (peers) {
    const others = { ...manifest.peerDependencies, ...project.dependencies, ...project.devDependencies };
    for (const name of Object.keys(others)) if (name !== manifest.name) linked.add(name);
  }
  for (const name of linked) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    const own = join(root, "sdk/node_modules", name);
    await symlink(existsSync(own) ? own : join(root, "node_modules", name), join(modules, name));
  }
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  return folder;
}

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command `bert-edge` that is installed in a project. */
export async function installedCommand(
  folder: string,
  args: readonly string[],
  { stdin = "", env = {} }: { stdin?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Outcome> {
  const script = join(folder, "node_modules/bert-edge/bin/bert-edge.js");
  const child = spawn(process.execPath, [script, ...args], { cwd: folder, env: { ...process.env, ...env } });
  const closed = once(child, "close") as Promise<[number | null]>;
  child.stdin.on("error", () => {}).end(stdin);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout, stderr };
}

/** Runs a script of a project with Node. */
export async function runNode(folder: string, args: readonly string[], node = process.execPath): Promise<string> {
  const { stdout } = await exec(node, [...args], { cwd: folder });
  return stdout;
}

/**
 * Type-checks all .ts files of a project with strict and nodenext settings.
 *
 * @throws Error with tsc's messages
 */
export async function checkTypes(folder: string): Promise<void> {
  const config = {
    compilerOptions: {
      ...{ noEmit: true, strict: true, module: "nodenext", target: "esnext", lib: ["esnext", "webworker"] },
      ...{ types: ["node"], typeRoots: [join(root, "node_modules/@types")], skipLibCheck: true },
      ...{ allowImportingTsExtensions: true, allowJs: true, checkJs: false },
    },
    include: ["*.ts", "*.js"],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  await exec(process.execPath, [tsc, "-p", folder]).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });
}

/** The import paths of the package that lead to JavaScript. */
export const entries = Object.keys(manifest.exports)
  .filter((path) => !/\.(wasm|json)$/.test(path))
  .map((path) => path.replace(".", manifest.name));

/** Reads the README's example. */
export async function threeLineExample(): Promise<string> {
  const readme = await readFile(join(root, "README.md"), "utf8");
  const [example = ""] = /(?<=```ts\n)import \{ loadModel \}[^`]*/.exec(readme) ?? [];
  return `${example}\nconsole.log(embeddings.map((vector) => vector.length).join());\n`;
}
