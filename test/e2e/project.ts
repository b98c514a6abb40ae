import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "#sdk/cli/dev/ports.ts";
import { startService } from "#sdk/cli/dev/service.ts";
import type { Service } from "#sdk/cli/process-group.ts";
import { packageFile } from "#sdk/cli/wrangler/installed.ts";

const repository = join(import.meta.dirname, "../..");

export interface UserProject {
  readonly root: string;
  remove(): Promise<void>;
}

interface UserProjectOptions {
  readonly region?: boolean;
  /** The only packages that are installed. Default: those of this repository. */
  readonly packages?: readonly string[];
}

/** Makes a project as users have it: the functions, wrangler.toml and `.dev.vars`, next to the installed packages. */
export async function userProject({ region = false, packages }: UserProjectOptions = {}): Promise<UserProject> {
  const root = await mkdtemp(join(tmpdir(), "bert-edge-project-"));
  const copy = (from: string, to = from) => cp(join(repository, from), join(root, to), { recursive: true });
  await mkdir(join(root, "models"));
  await Promise.all([copy("functions"), copy("wrangler.toml"), copy(".dev.vars.example", ".dev.vars")]);
  if (!region) await rm(join(root, "functions/region.ts"));
  await writeFile(join(root, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const installed = packages?.map((name) => join("node_modules", name)) ?? ["node_modules"];
  if (packages) await mkdir(join(root, "node_modules"));
  for (const path of installed) await symlink(join(repository, path), join(root, path));
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

export interface RunningWrangler extends Service {
  readonly url: string;
}

/** Starts `wrangler dev` in a project. The port and the host are all that differs from a developer's command. */
export async function wranglerDev(
  root: string,
  options: { args?: readonly string[]; onOutput?: (text: string) => void } = {},
): Promise<RunningWrangler> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const service = await startService({
    name: "wrangler dev",
    script: packageFile(root, "wrangler", "bin/wrangler.js"),
    args: [
      ...["dev", ...(options.args ?? []), "--ip", "127.0.0.1", "--port", `${port}`],
      ...["--inspector-port", `${await freePort()}`, "--show-interactive-dev-session=false"],
    ],
    cwd: root,
    env: { WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" },
    ready: { url: `${url}/health`, status: 200, withinMs: 60_000 },
    ...(options.onOutput && { onOutput: options.onOutput }),
  });
  return { ...service, url };
}
