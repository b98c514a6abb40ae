import { parentPort, workerData } from "node:worker_threads";
import { runScenario } from "./scenario.ts";

parentPort?.postMessage(runScenario(workerData));
