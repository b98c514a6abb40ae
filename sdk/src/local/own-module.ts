import { existsSync } from "node:fs";
import { extname, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { BertEdgeError } from "../artifact/error.ts";

const SELF = "local/own-module";

/**
 * Finds the folder of the package's modules: `dist`, or `src` if this process runs the sources. All Node code that needs files of
 * the package uses this function, because in a bundle the paths of modules differ or are unknown.
 *
 * @throws BertEdgeError `package_bundled`
 */
export function ownFolder(): string {
  const { url } = import.meta as { readonly url?: string };
  const path = url?.startsWith("file:") ? fileURLToPath(url) : "";
  const own = `${sep}${SELF.replaceAll("/", sep)}${extname(path)}`;
  if (!path.endsWith(own) || !existsSync(path)) throw packageBundled();
  return path.slice(0, -own.length);
}

/**
 * Finds a module of the package, for a thread or a subprocess to load.
 *
 * @param path path of the module in `src`, without its extension
 * @throws BertEdgeError `package_bundled`
 */
export function ownModule(path: string): URL {
  const folder = ownFolder();
  const file = [".js", ".ts"].map((extension) => `${folder}/${path}${extension}`).find((each) => existsSync(each));
  if (!file) throw packageBundled();
  return pathToFileURL(file);
}

const packageBundled = (): BertEdgeError =>
  new BertEdgeError(
    "package_bundled",
    "This call of bert-edge runs modules of the package in threads or subprocesses, and a bundle has no such files.",
    {
      hint:
        "Keep bert-edge out of the bundle, and install the package where the program runs. esbuild, Bun and tsup: --external bert-edge, " +
        'webpack: externals, Vite and Rollup: external, Next: serverExternalPackages: ["bert-edge"].',
    },
  );
