export type { Manifest } from "../artifact/manifest.ts";
export { type BenchOptions, type BenchReport, bench } from "./commands/bench.ts";
export { type InspectOptions, type InspectReport, inspect } from "./commands/inspect.ts";
export { type OptimizedModel, type OptimizeOptions, type OptimizeReport, optimize } from "./commands/optimize.ts";
export { type PreparedArtifact, type PrepareOptions, type PrepareReport, prepare } from "./commands/prepare.ts";
export { type QuantizedModel, type QuantizeOptions, type QuantizeReport, quantize } from "./commands/quantize.ts";
export { type VerifyOptions, type VerifyReport, verify } from "./commands/verify.ts";
