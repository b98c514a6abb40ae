export { type OptimizeOptions, type OptimizeReport, optimize } from "./commands/optimize.ts";
export { type PrepareOptions, type PrepareReport, prepare } from "./commands/prepare.ts";
