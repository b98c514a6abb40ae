import root from "../../../package.json" with { type: "json" };
import sdk from "../../../sdk/package.json" with { type: "json" };
import { modelName, type Project } from "../project.ts";

const { "onnxruntime-node": ortNode } = sdk.peerDependencies;
const { hono, "@hono/node-server": nodeServer } = root.dependencies;
const { typescript, "@types/node": nodeTypes, esbuild, osls, wrangler } = root.devDependencies;

/** Makes package.json. All versions come from this repository. */
export function packageJson(project: Project): string {
  const { name, region } = project;
  const hasRegion = region !== "none";
  const manifest = {
    name,
    version: "0.0.0",
    private: true,
    type: "module",
    engines: sdk.engines,
    scripts: {
      start: `bert-edge dev models/${modelName(project)}`,
      test: "node --test",
      check: "tsc",
      deploy: "wrangler deploy",
      ...(hasRegion && { build: root.scripts["build:region"] }),
      // osls has 62 MB. It is only needed to deploy, so it is not a dependency.
      ...(region === "aws" && { "deploy:region": `node --run build && npx osls@${osls} deploy` }),
    },
    dependencies: {
      ...(hasRegion && { "@hono/node-server": nodeServer }),
      "bert-edge": `^${sdk.version}`,
      hono,
      ...(hasRegion && { "onnxruntime-node": ortNode }),
    },
    devDependencies: {
      "@types/node": nodeTypes,
      ...(hasRegion && { esbuild }),
      typescript,
      wrangler: `^${wrangler}`,
    },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
