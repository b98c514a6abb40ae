import { dockerfile } from "./files/dockerfile.ts";
import { edgeSettings, regionFunction } from "./files/functions.ts";
import { dockerignore, gitignore } from "./files/ignored.ts";
import { managerSettings } from "./files/manager-settings.ts";
import { packageJson } from "./files/package-json.ts";
import { readme } from "./files/readme.ts";
import { devVars, SECRETS } from "./files/secrets.ts";
import { serverlessYml } from "./files/serverless-yml.ts";
import { ortWebSection, wranglerToml } from "./files/wrangler-toml.ts";
import { modelName, type Project } from "./project.ts";
import type { Region } from "./questions.ts";

type Fill = (source: string, project: Project) => string;
type Fills = Readonly<Record<string, Fill>>;

const unchanged: Fill = (source) => source;

/** Files that are copied and filled in: path in the package and in the project → what is filled in. */
const ofEdge: Fills = {
  ".dev.vars.example": unchanged,
  "functions/edge.ts": unchanged,
  "functions/edge-settings.ts": edgeSettings,
  "test/edge.test.js": unchanged,
  "tsconfig.json": unchanged,
  "wrangler.toml": wranglerToml,
};

const regionFunctions: Fills = {
  "functions/region.ts": regionFunction,
  "functions/serve-until-terminated.ts": unchanged,
};

const ofRegion: Readonly<Record<Region, Fills>> = {
  none: {},
  aws: { ...regionFunctions, "infra/bucket.yml": unchanged, "serverless.yml": serverlessYml },
  container: { ...regionFunctions, "infra/Dockerfile": dockerfile },
};

/** The Worker for onnxruntime-web and what it needs. README.md contains them, because few models need them. */
const inReadme = ["functions/edge-ort-web.ts", "functions/wasm.d.ts"];

/** The paths of all files that some project needs a copy of. */
export const sourcePaths = [
  ...new Set([ofEdge, ...Object.values(ofRegion)].flatMap((fills) => Object.keys(fills))),
  ...inReadme,
];

/**
 * Makes all text files of a project: path → content.
 *
 * @param read reads one of `sourcePaths`
 */
export function projectFiles(project: Project, read: (path: string) => string): Map<string, string> {
  const filled = Object.entries({ ...ofEdge, ...ofRegion[project.region] }).map(
    ([path, fill]) => [path, fill(read(path), project)] as const,
  );
  const files = new Map([
    ...filled,
    ["package.json", packageJson(project)],
    [".gitignore", gitignore(project)],
    [SECRETS, devVars()],
    ...managerSettings[project.packageManager],
    ...(project.region === "container" ? [[".dockerignore", dockerignore] as const] : []),
  ]);
  const name = modelName(project);
  const namingModel = [...files].flatMap(([path, content]) => (content.includes(name) ? [path] : []));
  const ortWeb = {
    files: inReadme.map((path) => [path, read(path)] as const),
    settings: ortWebSection(read("wrangler.toml")),
  };
  return files.set("README.md", readme(project, { namingModel, ortWeb }));
}
