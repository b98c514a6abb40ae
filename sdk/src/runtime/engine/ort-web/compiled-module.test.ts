import { afterEach, describe, expect, it } from "vitest";

/** A copy of the module, because other files need the memory of the onnxruntime-web that runs in this process. */
const copy = "./compiled-module.ts?copy";
const { ortMemory, placeholder, withCompiledModule }: typeof import("./compiled-module.ts") = await import(copy);

const platform = WebAssembly.instantiate;

/** The bytes of `(module (memory (export "memory") 1))`. */
const exportsMemory = Buffer.from("0061736d010000000503010001070a01066d656d6f72790200", "hex");
/** The bytes of `(module)`. */
const empty = Buffer.from("0061736d01000000", "hex");
/** The bytes of `(module (memory (import "env" "memory") 1))`. */
const importsMemory = Buffer.from("0061736d01000000020f0103656e76066d656d6f7279020001", "hex");

/** Instantiates the placeholder like onnxruntime-web instantiates `env.wasm.wasmBinary`. */
const instantiatePlaceholder = (imports: WebAssembly.Imports = {}) =>
  WebAssembly.instantiate(new Uint8Array(placeholder), imports);

afterEach(() => {
  expect(WebAssembly.instantiate).toBe(platform);
});

describe("withCompiledModule", () => {
  it("instantiates the compiled module for a view of the placeholder", async () => {
    const module = new WebAssembly.Module(exportsMemory);
    const result = await withCompiledModule(module, () => instantiatePlaceholder());
    expect(result.module).toBe(module);
    expect(result.instance.exports["memory"]).toBeInstanceOf(WebAssembly.Memory);
  });

  it("instantiates the compiled module for the placeholder itself", async () => {
    const module = new WebAssembly.Module(empty);
    const result = await withCompiledModule(module, () => WebAssembly.instantiate(placeholder, {}));
    expect(result.module).toBe(module);
  });

  it("finds the memory that the module exports or imports", async () => {
    const exported = await withCompiledModule(new WebAssembly.Module(exportsMemory), () => instantiatePlaceholder());
    expect(ortMemory()).toBe(exported.instance.exports["memory"]);

    const memory = new WebAssembly.Memory({ initial: 1 });
    await withCompiledModule(new WebAssembly.Module(importsMemory), () => instantiatePlaceholder({ env: { memory } }));
    expect(ortMemory()).toBe(memory);
  });

  it("passes other bytes and other modules to the platform", async () => {
    await withCompiledModule(new WebAssembly.Module(exportsMemory), async () => {
      const { instance } = await WebAssembly.instantiate(empty, {});
      expect(Object.keys(instance.exports)).toEqual([]);
      expect(await WebAssembly.instantiate(new WebAssembly.Module(empty), {})).toBeInstanceOf(WebAssembly.Instance);
    });
  });

  it("restores the platform's function when the start fails, and throws the start's error", async () => {
    const module = new WebAssembly.Module(empty);
    await expect(withCompiledModule(module, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(WebAssembly.instantiate).toBe(platform);
  });

  it("accepts the placeholder until the last of overlapping starts has ended", async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ] as const) {
      const module = new WebAssembly.Module(empty);
      const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
      const starts = gates.map((gate) => withCompiledModule(module, () => gate.promise));
      gates[order[0]].resolve();
      await starts[order[0]];
      expect((await instantiatePlaceholder()).module).toBe(module);
      gates[order[1]].resolve();
      await starts[order[1]];
      expect(WebAssembly.instantiate).toBe(platform);
    }
  });
});
