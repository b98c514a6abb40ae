import type { Manifest } from "./packages.ts";

/** Runs npm. Returns its exit code and what it printed. */
export type RunNpm = (args: readonly string[]) => { readonly code: number | null; readonly output: string };

/**
 * Publishes the packages whose version is not on npm yet, so that a release that failed between two packages can be repeated.
 *
 * @param manifests package.json of each package, by its folder
 * @throws Error if npm fails
 */
export function publishMissing(
  manifests: ReadonlyMap<string, Pick<Manifest, "name" | "version">>,
  npm: RunNpm,
  log: (line: string) => void,
): void {
  for (const [folder, { name, version }] of manifests) {
    if (isPublished(`${name}@${version}`, npm)) {
      log(`${name}@${version} is on npm already.`);
      continue;
    }
    const { code, output } = npm(["publish", "--provenance", "--access", "public", "--workspace", folder]);
    if (code !== 0) throw new Error(`npm cannot publish ${name}@${version}:\n${output}`);
    log(`${name}@${version} is published.`);
  }
}

function isPublished(id: string, npm: RunNpm): boolean {
  const { code, output } = npm(["view", id, "version"]);
  // npm prints nothing for a version that does not exist, and E404 for a package that does not.
  if (code === 0) return output.trim() !== "";
  if (output.includes("E404")) return false;
  throw new Error(`npm cannot tell whether ${id} is published:\n${output}`);
}
