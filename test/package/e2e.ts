// Installs the packed package from the npm registry into an empty project, runs the README's example and an app on Node 22 and 24.
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import manifest from "../../sdk/package.json" with { type: "json" };
import { commandLine } from "../commands/command-line.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";
import { pack, runNode, threeLineExample } from "./install.ts";

commandLine(
  "npm run e2e:package\nInstalls the packed package from the npm registry, and runs the README's example on Node 22 and 24.",
);

const SERVE = `
  import { readFile } from "node:fs/promises";
  import { openFolder, publish } from "bert-edge";
  import { wasmEngine } from "bert-edge/engine/wasm";
  import { createEdgeApp } from "bert-edge/serve";
  import { memoryStore } from "bert-edge/storage/memory";
  const kernels = async (build) =>
    WebAssembly.compile(await readFile(new URL(import.meta.resolve(\`bert-edge/kernels/\${build}.wasm\`))));
  const store = memoryStore();
  await publish(await openFolder("artifact"), store);
  const engine = wasmEngine({ relaxed: await kernels("relaxed"), simd: await kernels("simd") });
  const app = createEdgeApp({ models: store, model: "tiny", engine, keys: ["key"] });
  const headers = { authorization: "Bearer key", "content-type": "application/json" };
  const { status } = await app.request("/v1/embed", { method: "POST", headers, body: '{"inputs": "to be"}' });
  console.log(status);
`;

const folder = await mkdtemp(join(tmpdir(), "bert-edge-e2e-"));
try {
  const npm = (...args: string[]) => execFileSync("npm", args, { cwd: folder, stdio: "inherit" });
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  npm("install", await pack("sdk", folder));
  // The lowest version of hono that the package takes.
  npm("install", `hono@${manifest.peerDependencies.hono.replace("^", "")}`);
  await writePreparableCheckpoint(join(folder, "checkpoint"));
  await prepare({ model: join(folder, "checkpoint"), out: join(folder, "artifact"), name: "tiny", targets: ["edge"] });
  await writeFile(join(folder, "example.mjs"), await threeLineExample());
  await writeFile(join(folder, "serve.mjs"), SERVE);
  for (const version of [22, 24]) {
    const name = `node-${process.platform}-${process.arch}`;
    npm("install", "--no-save", `${name}@${version}`);
    const node = join(folder, "node_modules", name, "bin/node");
    const lengths = await runNode(folder, ["example.mjs"], node);
    console.log(`Node ${(await runNode(folder, ["--version"], node)).trim()}: vectors of ${lengths.trim()} dimensions`);
    const status = await runNode(folder, ["serve.mjs"], node);
    console.log(`Node ${version}: POST /v1/embed answers ${status.trim()}`);
    if (lengths !== "16,16\n" || status !== "200\n") process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
