import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseSource, readEntries, readSources, type SourceFile } from "./imports.ts";
import { layers } from "./layers.ts";
import { silentRewrites } from "./silent-rewrites.ts";
import {
  backwardImports,
  circles,
  crowdedFolders,
  crowdedWing,
  crumbs,
  misplacedBuiltIns,
  reachedFrom,
  roomOf,
  sharedNames,
  unreachedFiles,
} from "./violations.ts";

const sdk = join(import.meta.dirname, "../../sdk");
const file = (path: string, text = ""): SourceFile => parseSource(path, text);

describe("parseSource", () => {
  it("finds static, dynamic, type and side-effect imports, scripts, and exported declarations", () => {
    const text = `import { a } from "../graph/graph.ts";
      import type { B } from "../onnx/proto.ts";
import "./polyfill.ts";
import { readFile } from "node:fs/promises";
const lazy = () => import("./lazy.ts");
const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
const entry = ownModule("compile/entry");
const kernels = new URL("../../../dist/kernels.wasm", import.meta.url);
export type C = B;
export const C = a;
export async function d() {}
export { e } from "./e.ts";`;
    expect(parseSource("compile/fusions/x.ts", text)).toEqual({
      path: "compile/fusions/x.ts",
      imports: [
        "compile/graph/graph.ts",
        "compile/onnx/proto.ts",
        "compile/fusions/polyfill.ts",
        "compile/fusions/lazy.ts",
        "compile/fusions/e.ts",
      ],
      scripts: ["compile/fusions/worker.ts", "compile/entry.ts"],
      builtIns: ["node:fs/promises"],
      declares: ["C", "d"],
      lines: 11,
    });
  });

  it("reads all of the SDK", () => {
    const paths = readSources(join(sdk, "src")).map(({ path }) => path);
    expect(paths).toContain("runtime/model.ts");
    expect(paths.length).toBeGreaterThan(300);
    for (const room of layers) expect(paths.some((path) => roomOf(path) === room)).toBe(true);
  });
});

it("readEntries reads exports, those of a condition included, and what commands import", () => {
  const entries = readEntries(sdk);
  for (const entry of ["index.ts", "runtime/engine/wasm-pool/node/index.ts", "cli/index.ts"]) {
    expect(entries).toContain(entry);
  }
  expect(entries.every((entry) => existsSync(join(sdk, "src", entry)))).toBe(true);
});

describe("the checks find", () => {
  it("an import of a higher room, also as a type", () => {
    const files = [file("compile/graph/node.ts", 'import type { X } from "../fusions/index.ts";')];
    expect(backwardImports(files)).toEqual([
      "compile/graph/node.ts imports compile/fusions/index.ts: compile/graph must not import compile/fusions",
    ]);
  });

  it("an import of the compiler by the runtime", () => {
    expect(backwardImports([file("runtime/model.ts", 'import { x } from "../compile/graph/graph.ts";')])).toHaveLength(
      1,
    );
  });

  it("an import of the server by the compiler", () => {
    expect(backwardImports([file("compile/index.ts", 'export { x } from "../serve/app.ts";')])).toHaveLength(1);
  });

  it("an import of a higher room of the server", () => {
    const files = [file("serve/middleware/api-key.ts", 'import { x } from "../routes/respond.ts";')];
    expect(backwardImports(files)).toEqual([
      "serve/middleware/api-key.ts imports serve/routes/respond.ts: serve/middleware must not import serve/routes",
    ]);
  });

  it("an import that leads to a higher room of the server through files between the rooms", () => {
    const files = [
      file("serve/middleware/on-error.ts", 'import { x } from "../route-table.ts"; import { y } from "../refusal.ts";'),
      file("serve/refusal.ts", 'import type { x } from "./contract/decision.ts";'),
      file("serve/route-table.ts", 'import type { x } from "./deployment.ts";'),
      file("serve/deployment.ts", 'import { x } from "./routes/answer.ts"; import type { y } from "./route-table.ts";'),
      file("serve/routes/answer.ts", 'import { x } from "../refusal.ts";'),
    ];
    expect(backwardImports(files)).toEqual([
      "serve/middleware/on-error.ts imports serve/route-table.ts: serve/middleware must not import serve/routes",
    ]);
  });

  it("an import of any file of the server from below the server", () => {
    const files = [file("runtime/model.ts", 'import { x } from "../serve/trace.ts";'), file("serve/trace.ts")];
    expect(backwardImports(files)).toEqual(["runtime/model.ts imports serve/trace.ts: runtime must not import serve"]);
  });

  it("a client that imports more than the contract", () => {
    const contract = file("client/a.ts", 'import type { X } from "../serve/contract/embed.ts";');
    const artifact = file("client/b.ts", 'import { X } from "../artifact/error.ts";');
    expect(backwardImports([contract])).toEqual([]);
    expect(backwardImports([artifact])).toHaveLength(1);
  });

  it("a Node built-in in web-standard code, but not in a Node entry", () => {
    const text = 'import { readFile } from "node:fs";';
    expect(misplacedBuiltIns([file("serve/app.ts", text)])).toHaveLength(1);
    expect(misplacedBuiltIns([file("storage/fs.ts", text), file("compile/files/a.ts", text)])).toEqual([]);
  });

  it("a short file that only one file imports, unless it is an entry or a rule", () => {
    const files = [
      file("serve/a.ts", ["b", "c", "rules/d", "long"].map((name) => `import "./${name}.ts";\n`).join("")),
      file("serve/b.ts"),
      file("serve/c.ts"),
      file("serve/rules/d.ts"),
      file("serve/long.ts", "\n".repeat(16)),
      file("serve/other.ts", 'import "./c.ts";'),
    ];
    expect(crumbs(files, [])).toEqual(["serve/b.ts belongs into serve/a.ts, which alone imports it"]);
    expect(crumbs(files, ["serve/b.ts"])).toEqual([]);
  });

  it("a folder with more files than a reader can remember", () => {
    const files = Array.from({ length: 26 }, (_, i) => file(`serve/f${i}.ts`));
    expect(crowdedFolders(files)).toEqual(["serve/ has 26 files, at most 25 are allowed"]);
    expect(crowdedFolders(files.slice(1))).toEqual([]);
  });

  it("nothing in a walk, which reaches types too, each file once", () => {
    const files = [
      file("serve/a.ts", 'import "./b.ts"; import type { C } from "./c.ts";'),
      file("serve/b.ts", 'import "./c.ts"; import "./a.ts";'),
      file("serve/c.ts"),
      file("serve/d.ts"),
    ];
    expect([...reachedFrom(["serve/a.ts"], files)]).toEqual(["serve/a.ts", "serve/b.ts", "serve/c.ts"]);
  });

  it("a circle of files, but not two paths to one file", () => {
    const files = [
      file("serve/a.ts", 'import { b } from "./b.ts";'),
      file("serve/b.ts", 'import type { c } from "./c.ts"; import { d } from "./d.ts";'),
      file("serve/c.ts", 'import { a } from "./a.ts"; import { d } from "./d.ts";'),
      file("serve/d.ts"),
    ];
    expect(circles(files)).toEqual(["circle of 3: serve/a.ts, serve/b.ts, serve/c.ts"]);
  });

  it("a name with two meanings, unless the allow-list gives a reason that still applies", () => {
    const files = [file("serve/a.ts", "export type Range = 1;"), file("storage/b.ts", "export const Range = 2;")];
    expect(sharedNames(files, {})).toEqual(["Range is exported by serve/a.ts and storage/b.ts"]);
    expect(sharedNames(files, { Range: "a reason" })).toEqual([]);
    expect(sharedNames([], { Range: "a reason" })).toHaveLength(1);
  });

  it("a file that no entry reaches by imports and scripts", () => {
    const files = [
      file("index.ts", 'export { a } from "./serve/a.ts";'),
      file("serve/a.ts", 'import type { b } from "./b.ts"; new URL("./worker.js", import.meta.url);'),
      file("serve/b.ts"),
      file("serve/worker.ts", 'await import("./a.ts"); await import("./c.ts");'),
      file("serve/c.ts"),
      file("serve/oracle.ts", 'import { a } from "./a.ts"; import { d } from "./d.ts";'),
      file("serve/d.ts", 'import { oracle } from "./oracle.ts";'),
    ];
    expect(unreachedFiles(files, ["index.ts"])).toEqual([
      "serve/oracle.ts is reached by no entry of the package",
      "serve/d.ts is reached by no entry of the package",
    ]);
    expect(unreachedFiles(files, ["index.ts", "serve/oracle.ts"])).toEqual([]);
  });

  it("a rewrite that returns neither a result nor a reason", () => {
    const bodies = [
      "rewrite({ root }) { if (root.shape) return; return root.output; }",
      "rewrite: ({ root, add }) => (root.shape ? add(root) : undefined)",
      "rewrite: ({ root, add }) => root.shape && add(root)",
      "rewrite: ({ root }) => root.output ?? undefined",
      "rewrite: helper",
      "pattern",
    ];
    const found = bodies.flatMap((body) => silentRewrites("a.ts", `rule("A", { roots: ["Add"], ${body} });`));
    expect(found.map((fault) => fault.replace('a.ts: the rule "A" ', ""))).toEqual([
      "has neither a result nor a reason: return;",
      "has neither a result nor a reason: (root.shape ? add(root) : undefined)",
      "has neither a result nor a reason: root.shape && add(root)",
      "has neither a result nor a reason: root.output ?? undefined",
      "has no rewrite that is a function in place",
      "has no rewrite that is a function in place",
    ]);
  });

  it("no fault in a rewrite that gives a reason, nor in its check and its inner functions", () => {
    const text = `rule("A", {
      check({ root }) { if (!root.shape) return undefined; return root.shape; },
      rewrite({ root, add }) {
        const part = (input) => { if (!input) return; return input.output; };
        return part(root) ? add("A", root.inputs).output : refuse("it has no part", root);
      },
    });`;
    expect(silentRewrites("a.ts", text)).toEqual([]);
  });

  it("a compiler with too many rooms", () => {
    const files = Array.from({ length: 21 }, (_, i) => file(`compile/room-${i}/a.ts`));
    expect(crowdedWing(files)).toHaveLength(1);
    expect(crowdedWing(files.slice(1))).toEqual([]);
  });
});
