import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { lockedPackageManager, type PackageManager, runScript } from "./package-manager.ts";
import { prepareCommand } from "./prepare-command.ts";
import { EMBEDDED, modelName, type Project } from "./project.ts";
import { projectFiles } from "./project-files.ts";
import type { Region } from "./questions.ts";
import { ScaffoldError } from "./scaffold-error.ts";
import { readSource, writeModel } from "./write-project.ts";

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}
const sections = ["scripts", "dependencies", "devDependencies"] as const;

/** Result of adding a region. */
export interface AddedRegion {
  readonly packageManager: PackageManager;
  /** Commands that are left to run, with explanations. */
  readonly steps: readonly string[];
  /** Path of README.md, from the current folder. */
  readonly readme: string;
}

/**
 * Adds a region to an existing project: the files and dependencies by which a project with a region differs from one without. Changes
 * nothing of what is there; if a file or a script is in the way, it writes nothing.
 *
 * @param given.check called with the package manager before anything is written; an error of it stops the command
 * @throws ScaffoldError `project_missing`, `file_exists`
 */
export function addRegion(
  folder: string,
  region: Exclude<Region, "none">,
  given: {
    readonly chosen: PackageManager | undefined;
    readonly running: PackageManager;
    readonly check: (manager: PackageManager) => void;
  },
): AddedRegion {
  const at = (path: string) => join(folder, path);
  const text = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), "utf8") : undefined);
  const without = projectIn(folder, text, given.chosen ?? lockedPackageManager(folder) ?? given.running);
  const project: Project = { ...without, region };
  const [before, after] = [projectFiles(without, readSource), projectFiles(project, readSource)];

  const added = [...after].filter(([path]) => !before.has(path));
  const inTheWay = added.filter(([path, content]) => (text(path) ?? content) !== content).map(([path]) => path);
  const manifest = parsed(text("package.json") ?? "");
  const manifestOf = (files: typeof before) => JSON.parse(files.get("package.json") ?? "{}") as Manifest;
  const [old, wanted] = [manifestOf(before), manifestOf(after)];
  for (const name of Object.keys(wanted.scripts ?? {})) {
    const own = manifest.scripts?.[name];
    const isAdded = old.scripts?.[name] === undefined;
    if (isAdded && own !== undefined && own !== wanted.scripts?.[name])
      inTheWay.push(`the script ${name} of package.json`);
  }
  if (inTheWay.length > 0) {
    throw new ScaffoldError(
      "file_exists",
      `This project has its own ${inTheWay.join(", ")}. Nothing was written.`,
      "Rename what is in the way, and run the command again.",
    );
  }

  given.check(project.packageManager);

  for (const [path, content] of added) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
  }
  const merged = {
    ...manifest,
    ...Object.fromEntries(sections.map((name) => [name, mergedSection(name, manifest, old, wanted)])),
  };
  const indentation = /^[ \t]+(?=")/m.exec(text("package.json") ?? "")?.[0] ?? 2;
  writeFileSync(at("package.json"), `${JSON.stringify(merged, null, indentation)}\n`);
  appendLines(at(".gitignore"), missingLines(text(".gitignore"), before.get(".gitignore"), after.get(".gitignore")));
  appendLines(at("README.md"), regionPart(text("README.md"), before.get("README.md"), after.get("README.md")));

  const name = modelName(project);
  const model = at(join("models", name));
  // The model that comes with projects has one version for the edge alone, and one for both tiers.
  const isOurs = name === EMBEDDED && existsSync(model);
  if (isOurs) writeModel(model, project);
  return {
    packageManager: project.packageManager,
    steps: [
      ...(isOurs ? [] : [`${prepareCommand(project, "<model folder>", name)}  # a model for both tiers`]),
      `${runScript(project.packageManager, "start")}  # serves edge and region on this machine`,
    ],
    readme: relative(process.cwd(), at("README.md")),
  };
}

/** Reads what decides the files of a region. */
function projectIn(
  folder: string,
  text: (path: string) => string | undefined,
  packageManager: PackageManager,
): Project {
  const toml = text("wrangler.toml") ?? "";
  const setting = (name: string) => new RegExp(`^\\s*${name}\\s*=\\s*["']([^"']*)["']`, "m").exec(toml)?.[1];
  const [name, served, bucket] = [setting("name"), setting("MODEL"), setting("bucket_name")];
  if (name === undefined || served === undefined || text("package.json") === undefined) {
    throw new ScaffoldError(
      "project_missing",
      `${resolve(folder)} is not a project of create-bert-edge: it needs package.json, and wrangler.toml with name and MODEL.`,
      "Run the command in the folder of the project.",
    );
  }
  return { name, served, bucket, model: "own", plan: "free", region: "none", packageManager };
}

/** @throws ScaffoldError `project_missing` */
function parsed(manifest: string): Manifest {
  try {
    return JSON.parse(manifest) as Manifest;
  } catch (error) {
    throw new ScaffoldError("project_missing", `package.json is not JSON: ${(error as Error).message}.`, "Correct it.");
  }
}

/** Adds to a section of package.json what a project with a region has more. */
function mergedSection(section: (typeof sections)[number], own: Manifest, old: Manifest, wanted: Manifest) {
  const more = Object.entries(wanted[section] ?? {}).filter(([name]) => old[section]?.[name] === undefined);
  return { ...Object.fromEntries(more), ...own[section] };
}

/** Returns the lines that a project with a region has more, unless they are there. */
const missingLines = (own = "", before = "", wanted = ""): string[] => {
  const lines = [...own.split("\n"), ...before.split("\n")];
  return wanted.split("\n").filter((line) => line !== "" && !lines.includes(line));
};

/** Returns the part of README.md about the region, unless it is there. */
function regionPart(own = "", before = "", after = ""): string[] {
  const headingsOf = (readme: string) => readme.match(/^## .*/gm) ?? [];
  const known = [...headingsOf(before), ...headingsOf(own)];
  const parts = after.split(/(?=^## )/m).slice(1);
  return parts.filter((part) => !known.includes(headingsOf(part)[0] ?? "")).map((part) => `\n${part.trimEnd()}`);
}

function appendLines(path: string, lines: readonly string[]): void {
  if (lines.length === 0) return;
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  writeFileSync(path, `${before}${before === "" || before.endsWith("\n") ? "" : "\n"}${lines.join("\n")}\n`);
}
