/** Kernels of the WebAssembly engine, as runtimes and bundlers import them that take WebAssembly as modules. */
declare const kernels: WebAssembly.Module;
export default kernels;
