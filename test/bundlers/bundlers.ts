/** A bundler of the matrix: how it builds the programs, and how what it has built runs. */
export interface Bundler {
  readonly name: string;
  /** Configuration files, by their paths in the project. */
  readonly files?: Readonly<Record<string, string>>;
  /** Command in the project's node_modules/.bin, with its arguments. It writes into `built`. */
  readonly build: readonly string[];
  /** What to take away from the project, and to run elsewhere. Default `built`. */
  readonly built?: string;
  /** Programs to run in the copy of `built`, each with the command `node`, unless it is a program itself. */
  readonly runs: readonly string[];
  /** Whether the program is a server, whose vectors are at /api/embed and /api/pool. */
  readonly isServer?: boolean;
}

/** A project in which bundlers are installed. */
export interface BundlerProject {
  readonly packages: readonly string[];
  readonly bundlers: readonly Bundler[];
  /** Whether the programs run in the project, where the package is installed, and print `prepared`. Default: elsewhere. */
  readonly runsInside?: boolean;
}

const nextRoute = (imports: string, options: string) => `import { loadModel } from "bert-edge";
${imports}
export const dynamic = "force-dynamic";
export async function GET() {
  const model = await loadModel(process.env.ARTIFACT, ${options});
  const [vector] = (await model.embed("to be or not to be")).embeddings;
  await model[Symbol.asyncDispose]();
  return new Response(Buffer.from(vector.buffer).toString("hex"));
}`;
const nextPool = `import { readFileSync } from "node:fs";
import { wasmPoolEngine } from "bert-edge/engine/wasm-pool";
const simd = () => new WebAssembly.Module(readFileSync(process.env.ARTIFACT + "/simd.wasm"));`;

const nextFiles = {
  "next.config.mjs": `export default {
  output: "standalone",
  outputFileTracingRoot: import.meta.dirname,
  typescript: { ignoreBuildErrors: true },
};`,
  "app/layout.jsx": "export default ({ children }) => <html><body>{children}</body></html>;",
  "app/page.jsx": "export default () => <p>A page</p>;",
  "app/api/embed/route.js": nextRoute("", "{}"),
  "app/api/pool/route.js": nextRoute(nextPool, "{ engine: wasmPoolEngine({ simd: simd(), threads: 2 }) }"),
};

/** @param flag of `next build`, which chooses the bundler */
const next = (version: number, bundler: string, flag: readonly string[] = [`--${bundler}`]): Bundler => ({
  name: `Next ${version} with ${bundler}, standalone`,
  files: nextFiles,
  build: ["next", "build", ...flag],
  built: ".next/standalone",
  runs: ["server.js"],
  isServer: true,
});

const programs = ["embed", "pool"];
const entries = programs.map((name) => `${name}.mjs`);
const esbuild = ["esbuild", ...entries, "--bundle", "--platform=node", "--outdir=built"];

const minified = ["--minify", "--keep-names"];

const bundlers: readonly Bundler[] = [
  { name: "esbuild, ESM", build: [...esbuild, "--format=esm", "--out-extension:.js=.mjs"], runs: entries },
  {
    name: "esbuild, CommonJS",
    build: [...esbuild, "--format=cjs", "--out-extension:.js=.cjs"],
    runs: ["embed.cjs", "pool.cjs"],
  },
  {
    name: "esbuild, ESM, minified",
    build: [...esbuild, ...minified, "--format=esm", "--out-extension:.js=.mjs"],
    runs: entries,
  },
  {
    name: "esbuild, CommonJS, minified",
    build: [...esbuild, ...minified, "--format=cjs", "--out-extension:.js=.cjs"],
    runs: ["embed.cjs", "pool.cjs"],
  },
  ...["webpack", "rspack"].map((name) => ({
    name,
    files: {
      [`${name}.config.mjs`]: `export default {
  mode: "production",
  target: "node",
  entry: { embed: "./embed.mjs", pool: "./pool.mjs" },
  output: { path: import.meta.dirname + "/built", filename: "[name].cjs", chunkFilename: "[id].cjs" },
};`,
    },
    build: name === "webpack" ? [name] : [name, "build"],
    runs: ["embed.cjs", "pool.cjs"],
  })),
  {
    name: "Rollup",
    files: {
      "rollup.config.mjs": `import { nodeResolve } from "@rollup/plugin-node-resolve";
export default {
  input: ["embed.mjs", "pool.mjs"],
  plugins: [nodeResolve({ exportConditions: ["node"] })],
  output: { dir: "built", format: "es", entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
};`,
    },
    build: ["rollup", "--config", "--silent"],
    runs: entries,
  },
  {
    name: "Rollup with @rollup/plugin-commonjs, CommonJS",
    files: {
      "rollup.config.mjs": `import commonjs from "@rollup/plugin-commonjs";
import { nodeResolve } from "@rollup/plugin-node-resolve";
export default {
  input: ["embed.mjs", "pool.mjs"],
  plugins: [nodeResolve({ exportConditions: ["node"] }), commonjs()],
  output: { dir: "built", format: "cjs", entryFileNames: "[name].cjs", chunkFileNames: "[name]-[hash].cjs" },
};`,
    },
    build: ["rollup", "--config", "--silent"],
    runs: ["embed.cjs", "pool.cjs"],
  },
  {
    name: "Vite",
    files: {
      "vite.config.mjs": `export default {
  build: {
    ssr: true,
    outDir: "built",
    rollupOptions: { input: ["embed.mjs", "pool.mjs"], output: { entryFileNames: "[name].mjs" } },
  },
  ssr: { noExternal: true },
};`,
    },
    build: ["vite", "build"],
    runs: entries,
  },
  {
    name: "tsup",
    files: {
      "tsup.config.ts": `export default {
  entry: ["embed.mjs", "pool.mjs"],
  outDir: "built",
  format: "cjs",
  noExternal: [/./],
};`,
    },
    build: ["tsup"],
    runs: ["embed.cjs", "pool.cjs"],
  },
  ...programs.map((name) => ({
    name: `bun build --compile, ${name}`,
    build: ["bun", "build", "--compile", `${name}.mjs`, "--outfile", `built/${name}`],
    runs: [name],
  })),
  next(16, "webpack"),
  next(16, "turbopack"),
];

/** Bundles of the compiler, from which the package is kept out as docs/runtimes.md says. */
const compilers: readonly Bundler[] = [
  {
    name: "esbuild, compile",
    build: [
      "esbuild",
      "compile.mjs",
      "--bundle",
      "--platform=node",
      "--external:bert-edge",
      "--outfile=built/compile.cjs",
    ],
    runs: ["compile.cjs"],
  },
  {
    name: "webpack, compile",
    files: {
      "webpack.config.mjs": `export default {
  mode: "production",
  target: "node",
  entry: "./compile.mjs",
  externals: { "bert-edge/compile": "node-commonjs bert-edge/compile" },
  output: { path: import.meta.dirname + "/built", filename: "compile.cjs" },
};`,
    },
    build: ["webpack"],
    runs: ["compile.cjs"],
  },
  {
    name: "Rollup, compile",
    build: [
      "rollup",
      "compile.mjs",
      "--external",
      "/^bert-edge/",
      "--format",
      "es",
      "--file",
      "built/compile.mjs",
      "--silent",
    ],
    runs: ["compile.mjs"],
  },
  {
    name: "Vite, compile",
    files: {
      "vite.config.mjs": `export default {
  build: { ssr: "compile.mjs", outDir: "built", rollupOptions: { external: [/^bert-edge/], output: { entryFileNames: "[name].mjs" } } },
  ssr: { noExternal: true },
};`,
    },
    build: ["vite", "build"],
    runs: ["compile.mjs"],
  },
  {
    name: "tsup, compile",
    build: ["tsup", "compile.mjs", "--format", "cjs", "--out-dir", "built", "--external", "bert-edge"],
    runs: ["compile.cjs"],
  },
  {
    name: "bun build, compile",
    build: [
      "bun",
      "build",
      "compile.mjs",
      "--target=node",
      "--external",
      "bert-edge",
      "--outfile",
      "built/compile.mjs",
    ],
    runs: ["compile.mjs"],
  },
];

const tools = ["esbuild", "webpack", "webpack-cli", "rollup", "vite", "tsup", "typescript@5", "bun"];

export const projects: readonly BundlerProject[] = [
  {
    packages: [
      ...[...tools, "@rspack/core", "@rspack/cli", "@rollup/plugin-node-resolve", "@rollup/plugin-commonjs"],
      ...["next@16", "react", "react-dom", "jest", "jest29@npm:jest@29"],
    ],
    bundlers,
  },
  {
    packages: ["next@15", "react", "react-dom"],
    // Next 15 uses webpack without a flag.
    bundlers: [next(15, "webpack", []), next(15, "turbopack")],
  },
  { packages: [...tools, "onnxruntime-node"], bundlers: compilers, runsInside: true },
];

/** A test of Jest in CommonJS. It needs `NODE_OPTIONS=--experimental-vm-modules`. */
export const JEST = `test("embeds", async () => {
  const { loadModel } = await import("bert-edge");
  const model = await loadModel(process.env.ARTIFACT);
  const [vector] = (await model.embed("to be or not to be")).embeddings;
  expect(Buffer.from(vector.buffer).toString("hex")).toBe(process.env.VECTOR);
  await model[Symbol.asyncDispose]();
});`;
