import { parentPort } from "node:worker_threads";
import { answering } from "../answering.ts";

parentPort?.on(
  "message",
  answering((answer, buffers) => parentPort?.postMessage(answer, buffers)),
);
