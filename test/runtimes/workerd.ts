import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { type Cases, type Digests, filesOf } from "./digests.ts";

/** A Worker cannot compile bytes, so the kernels and all files are modules. */
const script = (files: readonly string[]) => `
  import { digests } from "./digests.mjs";
  import relaxed from "./relaxed.wasm";
  import simd from "./simd.wasm";
  ${files.map((file, i) => `import file${i} from "./${file}";`).join("\n")}

  const files = { ${files.map((file, i) => `"${file}": file${i}`).join(", ")} };
  const read = async (file) => new Uint8Array(files[file]);

  export default { fetch: async () => Response.json(await digests({ relaxed, simd }, read)) };`;

export async function digestsOfWorkerd(folder: string): Promise<Digests> {
  const cases = JSON.parse(await readFile(join(folder, "cases.json"), "utf8")) as Cases;
  const files = ["cases.json", ...filesOf(cases)];
  const module = async (type: "ESModule" | "CompiledWasm" | "Data", path: string) => ({
    type,
    path,
    contents: new Uint8Array(await readFile(join(folder, path))),
  });
  const options = convertV4MiniflareOptions({
    modules: [
      { type: "ESModule", path: "worker.mjs", contents: script(files) },
      await module("ESModule", "digests.mjs"),
      ...(await Promise.all(["relaxed.wasm", "simd.wasm"].map((path) => module("CompiledWasm", path)))),
      ...(await Promise.all(files.map((path) => module("Data", path)))),
    ],
    compatibilityDate: "2026-11-01",
  });
  const worker = new Miniflare(options);
  try {
    return (await (await worker.dispatchFetch("http://worker/")).json()) as Digests;
  } finally {
    await worker.dispose();
  }
}
