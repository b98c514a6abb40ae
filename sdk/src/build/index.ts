export { type OptimizeOptions, type OptimizeReport, optimize } from "./optimize/optimize.ts";
export { type PrepareOptions, type PrepareReport, prepare } from "./prepare.ts";
