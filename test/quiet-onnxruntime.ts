import { createRequire } from "node:module";

// onnxruntime-node reads its log level when a process creates its first session. What it would log as an error, it also throws.
const { env } = createRequire(import.meta.url)("onnxruntime-common") as typeof import("onnxruntime-common");
env.logLevel = "fatal";
