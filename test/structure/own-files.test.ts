import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const SOURCES = join(import.meta.dirname, "../../sdk/src");

/** Files that ask where a module is, or make a `require`: the helper, and those that need it for no file of this package, or for browsers. */
const ASKING: readonly string[] = [
  "cli/wrangler/installed.ts", // the wrangler of the user's project
  "local/engines.ts", // a file of onnxruntime-web, which the command line and prepare read
  "local/own-module.ts",
  "runtime/engine/ort-node/session-threads.ts", // only the cache of loaded modules
  "runtime/engine/wasm-pool/web-thread.ts", // new Worker(new URL("./worker.js", import.meta.url)), for browsers
];

const sources = globSync("**/*.ts", { cwd: SOURCES })
  .filter((path) => !path.endsWith(".test.ts"))
  .map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(join(SOURCES, path), "utf8") }));

it("asks in one place where a file of the package is, because bundles have none", () => {
  const asking = sources.filter(({ text }) => /import\.meta\b|\bcreateRequire\(|\b__(dirname|filename)\b/.test(text));
  expect(asking.map(({ path }) => path).sort()).toEqual(ASKING);
});

it("names modules of threads and subprocesses by their own paths", () => {
  const named = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^(?! \*).*\b(ownModule|inSubprocess)\("([^"]+)"/gm)].map(([, call, module]) => ({
      path,
      call,
      module,
    })),
  );
  expect(named.filter(({ module }) => !existsSync(join(SOURCES, `${module}.ts`)))).toEqual([]);
  // A function that runs in a subprocess is exported by the file that calls it.
  expect(named.filter(({ path, call, module }) => call === "inSubprocess" && path !== `${module}.ts`)).toEqual([]);
  expect(named.length).toBeGreaterThan(9);
});

it("exports the functions that subprocesses call by their names", () => {
  const called = sources.flatMap(({ path, text }) => {
    const tagged = text.matchAll(/@inSubprocess\s+\*\/\s+(?:export )?(?:async )?(?:function|const) (\w+)/g);
    const wrapped = text.matchAll(/^(?! \*).*\binSubprocess\("[^"]+", (\w+)/gm);
    return [...tagged, ...wrapped].map(([, name]) => ({ path, name, text }));
  });
  const isExported = ({ name, text }: (typeof called)[number]) =>
    new RegExp(`^export (async )?(function|const) ${name}\\b`, "m").test(text);
  expect(called.filter((each) => !isExported(each)).map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
  expect(called.length).toBeGreaterThan(9);
});
