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
  /** Whether the program is a server, whose vector is at /api/embed. */
  readonly isServer?: boolean;
}

const nextFiles = {
  "next.config.mjs": `export default {
  output: "standalone",
  outputFileTracingRoot: import.meta.dirname,
  typescript: { ignoreBuildErrors: true },
};`,
  "app/layout.jsx": "export default ({ children }) => <html><body>{children}</body></html>;",
  "app/page.jsx": "export default () => <p>A page</p>;",
  "app/api/embed/route.js": `import { loadModel } from "bert-edge";
export const dynamic = "force-dynamic";
export async function GET() {
  const model = await loadModel(process.env.ARTIFACT);
  const [vector] = await model.embed(["to be or not to be"]);
  return new Response(Buffer.from(vector.buffer).toString("hex"));
}`,
};

const programs = ["embed", "pool"];
const entries = programs.map((name) => `${name}.mjs`);
const esbuild = ["esbuild", ...entries, "--bundle", "--platform=node", "--outdir=built"];

export const packages: readonly string[] = [
  ...["esbuild", "webpack", "webpack-cli", "rollup", "@rollup/plugin-node-resolve", "vite", "tsup", "typescript@5"],
  ...["bun", "next@16", "react", "react-dom", "jest"],
];

export const bundlers: readonly Bundler[] = [
  { name: "esbuild, ESM", build: [...esbuild, "--format=esm", "--out-extension:.js=.mjs"], runs: entries },
  {
    name: "esbuild, CommonJS",
    build: [...esbuild, "--format=cjs", "--out-extension:.js=.cjs"],
    runs: ["embed.cjs", "pool.cjs"],
  },
  {
    name: "webpack",
    files: {
      "webpack.config.mjs": `export default {
  mode: "production",
  target: "node",
  entry: { embed: "./embed.mjs", pool: "./pool.mjs" },
  output: { path: import.meta.dirname + "/built", filename: "[name].cjs", chunkFilename: "[id].cjs" },
};`,
    },
    build: ["webpack"],
    runs: ["embed.cjs", "pool.cjs"],
  },
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
  ...["webpack", "turbopack"].map((name) => ({
    name: `Next with ${name}, standalone`,
    files: nextFiles,
    build: ["next", "build", `--${name}`],
    built: ".next/standalone",
    runs: ["server.js"],
    isServer: true,
  })),
];

/** A test of Jest in CommonJS. It needs `NODE_OPTIONS=--experimental-vm-modules`. */
export const JEST = `test("embeds", async () => {
  const { loadModel } = await import("bert-edge");
  const model = await loadModel(process.env.ARTIFACT);
  const [vector] = await model.embed(["to be or not to be"]);
  expect(Buffer.from(vector.buffer).toString("hex")).toBe(process.env.VECTOR);
  await model[Symbol.asyncDispose]();
});`;
