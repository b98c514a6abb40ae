// Breaks the engines of each process that loads it first (`node --import`), so that they compute wrong vectors: kernels subtract where
// they should add, and onnxruntime negates every other output of graphs with its own operators. Other graphs are right.
import { readFileSync } from "node:fs";
import promises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import threads, { type WorkerOptions } from "node:worker_threads";
import { InferenceSession } from "onnxruntime-node";

/** WebAssembly: the instructions f32x4.add and f32x4.sub. */
const [ADD, SUBTRACT] = [Buffer.from([0xfd, 0xe4, 0x01]), Buffer.from([0xfd, 0xe5, 0x01])];

function damaged(kernels: Buffer): Buffer {
  for (let at = kernels.indexOf(ADD); at >= 0; at = kernels.indexOf(ADD, at)) SUBTRACT.copy(kernels, at);
  return kernels;
}

const { readFile } = promises;
Object.assign(promises, {
  async readFile(file: Parameters<typeof readFile>[0], options: Parameters<typeof readFile>[1]) {
    const content = await readFile(file, options);
    return /\/kernels\/\w+\.wasm$/.test(String(file)) && Buffer.isBuffer(content) ? damaged(content) : content;
  },
});

/** Node compiles kernels that the package contains. onnxruntime's own modules are much larger. */
const KERNELS_BYTES = 100_000;
const { compile } = WebAssembly;
WebAssembly.compile = (bytes) => {
  const isKernels = bytes.byteLength < KERNELS_BYTES && Buffer.isBuffer(bytes);
  return compile(isKernels ? new Uint8Array(damaged(bytes)) : bytes);
};

/** Sessions of a region run in threads whose program is text, and which load no file first. */
const ANSWER = "return { data, dims };";
const { Worker } = threads;
Object.assign(threads, {
  Worker: class extends Worker {
    constructor(program: string | URL, options?: WorkerOptions) {
      const negated = `for (let i = 0; i < data.length; i += 2) data[i] = -data[i]; ${ANSWER}`;
      super(typeof program === "string" ? program.replace(ANSWER, negated) : program, options);
    }
  },
});
syncBuiltinESMExports();

const { create } = InferenceSession;
Object.assign(InferenceSession, {
  async create(model: string | Uint8Array, options: InferenceSession.SessionOptions) {
    const session = await create.call(InferenceSession, model as Uint8Array, options);
    const bytes = typeof model === "string" ? readFileSync(model) : Buffer.from(model);
    if (!bytes.includes("com.microsoft")) return session;
    const run = session.run.bind(session) as (...args: unknown[]) => Promise<InferenceSession.OnnxValueMapType>;
    return Object.assign(session, {
      async run(...args: unknown[]) {
        const outputs = await run(...args);
        for (const { data } of Object.values(outputs) as { data: Float32Array }[]) {
          for (let i = 0; i < data.length; i += 2) data[i] = -(data[i] as number);
        }
        return outputs;
      },
    });
  },
});
