/** The process of the load generator. It runs one job after the other. */
import type { LoadJob } from "./job.ts";
import { runLoad } from "./run-load.ts";

process.on("message", async (job: LoadJob) => process.send?.(await runLoad(job)));
process.on("disconnect", () => process.exit());
