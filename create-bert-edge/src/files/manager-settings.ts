import type { PackageManager } from "../package-manager.ts";

const reason =
  "Turns install scripts off. No dependency needs one, and onnxruntime-node's script would download CUDA libraries.";

/**
 * The settings files of each package manager. They all turn install scripts off: those of esbuild and workerd only save
 * time. They also make `node_modules` a plain folder, because the region's image and Lambda package are copied from it.
 */
export const managerSettings: Readonly<Record<PackageManager, readonly (readonly [path: string, content: string])[]>> =
  {
    npm: [[".npmrc", `; ${reason}\nignore-scripts=true\n`]],
    pnpm: [["pnpm-workspace.yaml", `# ${reason}\nignoreScripts: true\nnodeLinker: hoisted\n`]],
    // Yarn 1 reads only the first file, and later versions only the second one.
    yarn: [
      [".yarnrc", `# ${reason}\nignore-scripts true\n`],
      [".yarnrc.yml", `# ${reason}\nenableScripts: false\nnodeLinker: node-modules\n`],
    ],
    // Bun does both by default.
    bun: [],
  };
