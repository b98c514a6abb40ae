import type { Artifact } from "../../artifact/artifact.ts";
import type { Measurements } from "../../artifact/measurements.ts";
import { type TargetTimes, timeTargets } from "../latency/time-targets.ts";
import type { Stage } from "./stage.ts";

interface TimeInput {
  readonly artifact: Artifact;
  readonly rounds?: number | undefined;
}

/** Times an artifact's CPU targets on this machine. */
export const time: Stage<TimeInput, TargetTimes> = {
  name: "time",
  describe: () => "time the CPU targets",
  run: ({ artifact, rounds }, { signal, progress }) =>
    timeTargets(artifact, {
      rounds,
      signal,
      onRound: (round, all) => progress("time the CPU targets", round / all),
    }),
  report: ({ measurements }) => findingsOf(measurements),
};

const findingsOf = (measurements: Measurements) =>
  Object.fromEntries(
    Object.entries(measurements).flatMap(([target, found]) => [
      ...(found?.latency ? [[`${target}: ms per token`, found.latency.perToken]] : []),
      ...(found?.memory ? [[`${target}: peak bytes`, found.memory.peak]] : []),
    ]),
  );
