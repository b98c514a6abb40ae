import { dockerfile } from "./files/dockerfile.ts";
import { edgeTest } from "./files/edge-test.ts";
import { edgeSettings, regionFunction } from "./files/functions.ts";
import { dockerignore, gitignore } from "./files/ignored.ts";
import { managerSettings } from "./files/manager-settings.ts";
import { packageJson } from "./files/package-json.ts";
import { readme } from "./files/readme.ts";
import { devVars } from "./files/secrets.ts";
import { serverlessYml } from "./files/serverless-yml.ts";
import { wranglerToml } from "./files/wrangler-toml.ts";
import type { Project } from "./project.ts";
import type { Region } from "./questions.ts";

type Fill = (source: string, project: Project) => string;
type Fills = Readonly<Record<string, Fill>>;

const unchanged: Fill = (source) => source;

/** Files that are copied and filled in: path in the package and in the project → what is filled in. */
const ofEdge: Fills = {
  ".dev.vars.example": unchanged,
  "functions/edge.ts": unchanged,
  "functions/edge-settings.ts": edgeSettings,
  "test/edge.test.js": edgeTest,
  "tsconfig.json": unchanged,
  "wrangler.toml": wranglerToml,
};

const ofRegion: Readonly<Record<Region, Fills>> = {
  none: {},
  aws: { "functions/region.ts": regionFunction, "infra/bucket.yml": unchanged, "serverless.yml": serverlessYml },
  container: { "functions/region.ts": regionFunction, "infra/Dockerfile": dockerfile },
};

/** The paths of all files that some project needs a copy of. */
export const sourcePaths = [...new Set([ofEdge, ...Object.values(ofRegion)].flatMap((fills) => Object.keys(fills)))];

/**
 * Makes all text files of a project: path → content.
 *
 * @param read reads one of `sourcePaths`
 */
export function projectFiles(project: Project, read: (path: string) => string): Map<string, string> {
  const filled = Object.entries({ ...ofEdge, ...ofRegion[project.region] }).map(
    ([path, fill]) => [path, fill(read(path), project)] as const,
  );
  const settings = managerSettings[project.packageManager];
  return new Map([
    ...filled,
    ["package.json", packageJson(project)],
    ["README.md", readme(project)],
    [".gitignore", gitignore(project)],
    [".dev.vars", devVars()],
    ...(settings ? [settings] : []),
    ...(project.region === "container" ? [[".dockerignore", dockerignore] as const] : []),
  ]);
}
