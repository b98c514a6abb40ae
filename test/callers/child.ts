/** A process of callers. It does one job, until a further message at the latest. */
import { once } from "node:events";
import { flood } from "./flood.ts";
import type { CallerJob } from "./process.ts";
import { steady } from "./steady.ts";

process.on("message", () => {});
process.on("disconnect", () => process.exit());
const [job] = (await once(process, "message")) as [CallerJob];
const stop = new AbortController();
process.once("message", () => stop.abort());
const [before, start] = [process.cpuUsage(), performance.now()];
const tally = job.kind === "flood" ? await flood(job, stop.signal) : await steady(job, stop.signal);
const { user, system } = process.cpuUsage(before);
process.send?.({ ...tally, cpuMs: (user + system) / 1_000, seconds: (performance.now() - start) / 1_000 });
