export type { Artifact, PublishableArtifact } from "../artifact/artifact.ts";
export type { Destination } from "../artifact/fill.ts";
export type {
  EmbedManifest,
  Manifest,
  Parity,
  Pooling,
  Target,
  TargetName,
  Task,
  TaskName,
  TaskScore,
} from "../artifact/manifest.ts";
export type { LatencyFit, Measurements } from "../artifact/measurements.ts";
export type { ModelReading } from "../runtime/reading.ts";
export type { GoldenAgreement } from "./accuracy/golden/compare-lines.ts";
export type { GoldenOptions } from "./accuracy/golden/read-golden.ts";
export type { ModelParity } from "./accuracy/model-parity.ts";
export type { TaskFiles } from "./accuracy/task-data.ts";
export type { FoundKey } from "./checkpoint/modules/key-table.ts";
export type { FileKeys } from "./checkpoint/modules/ledger.ts";
export { type BenchOptions, type BenchReport, bench } from "./commands/bench.ts";
export {
  type InspectedArtifact,
  type InspectedModel,
  type InspectedTarget,
  type InspectOptions,
  type InspectReport,
  inspect,
  type RefusedModel,
} from "./commands/inspect.ts";
export { type OptimizedModel, type OptimizeOptions, type OptimizeReport, optimize } from "./commands/optimize.ts";
export { type PreparedArtifact, type PrepareOptions, type PrepareReport, prepare } from "./commands/prepare.ts";
export type { PrepareWarning } from "./commands/prepare-warnings.ts";
export { type QuantizedModel, type QuantizeOptions, type QuantizeReport, quantize } from "./commands/quantize.ts";
export { type VerifiedTarget, type VerifyOptions, type VerifyReport, verify } from "./commands/verify.ts";
export type { ModelInput } from "./files/folders.ts";
export type { ExcusedParts } from "./fusions/unfused-parts.ts";
export type { Outline, OutlineNode, OutlineWeight, RepeatedBlock } from "./graph/outline.ts";
export type { LatencyPoint } from "./latency/fit-latency.ts";
export type { LimitName, LimitUse, PlatformFit, PlatformSource } from "./latency/platforms/fit.ts";
export type { FitTable, PredictedLatency } from "./latency/platforms/forecast.ts";
export type { TargetTimes, TimedTarget } from "./latency/time-targets.ts";
export type { PoolingChoice } from "./model/chosen-pooling.ts";
export type { TaskChoice } from "./model/describe-model.ts";
export type { UnfusedReason } from "./rewrite/trace.ts";
export type { HubSource } from "./stages/locate-model.ts";
export type { PassedOver, RegionPrecision } from "./stages/make-target.ts";
export type { QuantizeChoice, QuantizeMode } from "./stages/quantize.ts";
export type { Findings, Progress, RunOptions, StageName, StageReport } from "./stages/stage.ts";
