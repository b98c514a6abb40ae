import { afterEach, describe, expect, it } from "vitest";
import { ortMemory, placeholder, withCompiledModule } from "./compiled-module.ts";

const platform = WebAssembly.instantiate;

/** The bytes of `(module (memory (export "memory") 1))`. */
const exportsMemory = Uint8Array.of(
  0,
  97,
  115,
  109,
  1,
  0,
  0,
  0,
  5,
  3,
  1,
  0,
  1,
  7,
  10,
  1,
  6,
  109,
  101,
  109,
  111,
  114,
  121,
  2,
  0,
);
/** The bytes of `(module)`. */
const empty = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
/** The bytes of `(module (memory (import "env" "memory") 1))`. */
const importsMemory = Uint8Array.of(
  0,
  97,
  115,
  109,
  1,
  0,
  0,
  0,
  2,
  15,
  1,
  3,
  101,
  110,
  118,
  6,
  109,
  101,
  109,
  111,
  114,
  121,
  2,
  0,
  1,
);

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
