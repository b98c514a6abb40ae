import { cpus, loadavg } from "node:os";

/** Returns the processor of this machine, its number of cores, and the load of the last minutes. */
export const thisMachine = () => ({ cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, load: loadavg() });
