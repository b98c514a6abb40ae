/**
 * Stands for the bytes of onnxruntime-web's WebAssembly file. Workers refuse to compile such bytes ("Wasm code
 * generation disallowed by embedder"), but can import the file as a compiled module. While onnxruntime-web starts, a
 * replacement of `WebAssembly.instantiate` recognizes this placeholder and instantiates the compiled module.
 */
export const placeholder = new ArrayBuffer(8);

let memory: WebAssembly.Memory | undefined;

/**
 * Returns the WebAssembly memory of onnxruntime-web; undefined before onnxruntime-web has started. onnxruntime-web
 * starts once per process, so all models share this memory.
 */
export const ortMemory = (): WebAssembly.Memory | undefined => memory;

let original = WebAssembly.instantiate;
let starting = 0;

/**
 * Runs `start`, which starts onnxruntime-web. Until `start` ends, `WebAssembly.instantiate` is replaced by another
 * function. If this function receives the placeholder, it instantiates `module`. If several starts overlap, the start
 * that ends last restores the original function.
 */
export async function withCompiledModule<T>(module: WebAssembly.Module, start: () => Promise<T>): Promise<T> {
  if (starting === 0) original = WebAssembly.instantiate;
  starting++;
  const substitute = (source: unknown, imports: WebAssembly.Imports) => {
    const buffer = ArrayBuffer.isView(source) ? source.buffer : source;
    return buffer === placeholder ? instantiate(module, imports) : original(source as WebAssembly.Module, imports);
  };
  async function instantiate(source: WebAssembly.Module, imports: WebAssembly.Imports) {
    const instance = await original(source, imports);
    const imported = Object.values(imports).flatMap((group) => Object.values(group));
    memory = [...imported, ...Object.values(instance.exports)].find((value) => value instanceof WebAssembly.Memory);
    return { module: source, instance };
  }
  WebAssembly.instantiate = substitute as typeof WebAssembly.instantiate;
  try {
    return await start();
  } finally {
    starting--;
    if (starting === 0) WebAssembly.instantiate = original;
  }
}
