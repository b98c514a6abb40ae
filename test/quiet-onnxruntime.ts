import { env } from "onnxruntime-node";

// onnxruntime reads its log level when a process creates its first session. What it would log as an error, it also throws.
env.logLevel = "fatal";
