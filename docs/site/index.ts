// Builds the documentation as a static site: `npm run docs`. Fails if a link is dead.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "../../test/commands/command-line.ts";
import { deadLinks } from "./dead-links.ts";
import { documents, root } from "./documents.ts";

const site = import.meta.dirname;

/** Installs the packages that only the site needs, unless they are those of package-lock.json already. */
function install(): void {
  const installed = join(site, "node_modules/.package-lock.json");
  const isCurrent =
    existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(site, "package-lock.json")).mtimeMs;
  if (!isCurrent) execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: site, stdio: ["ignore", 2, 2] });
}

/**
 * Builds the site from the packages that are installed.
 *
 * @param base path at which the site will be served
 */
export function buildSite(base: string, out: string): void {
  const files = join(root, "dist/docs-files");
  rmSync(files, { recursive: true, force: true });
  cpSync(join(root, "docs"), files, { recursive: true, filter: (path) => path !== site && !path.endsWith(".md") });
  const astro = join(site, "node_modules/astro/bin/astro.mjs");
  execFileSync(process.execPath, [astro, "build", "--base", base, "--outDir", out], {
    cwd: site,
    // Astro would also believe BASE_URL and DEV, which vitest sets.
    env: { PATH: process.env["PATH"], ASTRO_TELEMETRY_DISABLED: "1" },
    stdio: ["ignore", "ignore", 2],
  });
}

if (import.meta.main) {
  const { values } = commandLine(
    `npm run docs -- [--base /path]
Builds the documentation as a static site in dist/docs, for a host that serves it at --base. Fails if a link is dead.`,
    { base: { type: "string", default: "/" } },
  );
  try {
    const dead = deadLinks(documents(), (path) => existsSync(join(root, path)));
    if (dead.length > 0) throw new Error(`Dead links:\n${dead.join("\n")}`);
    const out = join(root, "dist/docs");
    install();
    buildSite(values.base, out);
    console.log(`The documentation is in ${out}.`);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
