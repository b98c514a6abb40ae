import manifest from "../package.json" with { type: "json" };
import { addRegion } from "./add-region.ts";
import { chooseDefaults, chooseInteractively } from "./choose.ts";
import { assertInstalled, initGit, installDependencies } from "./commands.ts";
import { type Flags, parseFlags } from "./flags.ts";
import { help } from "./help.ts";
import { nextSteps } from "./next-steps.ts";
import { runningPackageManager } from "./package-manager.ts";
import { assertUsable } from "./project-folder.ts";
import { writeProject } from "./write-project.ts";

/**
 * Creates a project.
 *
 * @throws ScaffoldError for everything that the user can correct
 */
export async function run(args: readonly string[]): Promise<void> {
  const flags = parseFlags(args);
  if (flags.help) return console.log(help);
  if (flags.version) return console.log(manifest.version);
  if (flags.add === "region") return addRegionTo(flags);
  if (flags.folder !== undefined) assertUsable(flags.folder);

  const choose = flags.yes || !canAsk() ? chooseDefaults : chooseInteractively;
  const choices = await choose(flags, process.env["npm_config_user_agent"]);
  if (!choices) return;
  assertUsable(choices.folder);
  if (flags.install) assertInstalled(choices.packageManager);

  await writeProject(choices.folder, choices);
  if (flags.git) initGit(choices.folder);
  let installed = false;
  try {
    if (flags.install) installDependencies(choices.folder, choices.packageManager);
    installed = flags.install;
  } finally {
    console.log(nextSteps(choices, { installed }));
  }
}

/** @throws ScaffoldError as `addRegion` does, `manager_missing`, `command_failed` */
function addRegionTo({ folder = ".", regions, packageManager, install }: Flags): void {
  const region = regions.length === 1 && regions[0] === "aws" ? "aws" : "container";
  const running = runningPackageManager(process.env["npm_config_user_agent"]);
  const {
    packageManager: manager,
    steps,
    readme,
  } = addRegion(folder, region, {
    ...{ chosen: packageManager, running },
    check: install ? assertInstalled : () => {},
  });
  let installed = false;
  try {
    if (install) installDependencies(folder, manager);
    installed = install;
  } finally {
    const all = installed ? steps : [`${manager} install`, ...steps];
    const lines = all.map((step) => `  ${step}`).join("\n");
    console.log(`\nThe project has a region. Next:\n\n${lines}\n\n${readme} says how to deploy the region.`);
  }
}

const canAsk = (): boolean => Boolean(process.stdin.isTTY && process.stdout.isTTY && !process.env["CI"]);
