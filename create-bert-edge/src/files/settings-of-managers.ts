import type { PackageManager } from "../package-manager.ts";

/**
 * The settings file of each package manager. No dependency needs its install script: those of esbuild and workerd only
 * save time, and that of onnxruntime-node downloads CUDA libraries. `node_modules` must be a plain folder, because the
 * region's package is made from it.
 */
export const managerSettings: Readonly<Record<PackageManager, readonly [path: string, content: string] | undefined>> = {
  npm: [
    ".npmrc",
    "; No dependency needs its install script. That of onnxruntime-node would download CUDA libraries.\nignore-scripts=true\n",
  ],
  pnpm: [
    "pnpm-workspace.yaml",
    "nodeLinker: hoisted\n# No dependency needs its install script. That of onnxruntime-node would download CUDA libraries.\nignoreScripts: true\n",
  ],
  yarn: [
    ".yarnrc.yml",
    "nodeLinker: node-modules\n# No dependency needs its install script. That of onnxruntime-node would download CUDA libraries.\nenableScripts: false\n",
  ],
  bun: undefined,
};
