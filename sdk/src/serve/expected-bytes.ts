import type { Artifact } from "../artifact/artifact.ts";
import type { Target, TargetName } from "../artifact/manifest.ts";
import type { Engine } from "../runtime/engine/engine.ts";

/** Returns the peak memory that `prepare` measured. Without a measurement, returns the size of the model file. */
export function expectedBytes({ manifest, measurements }: Artifact, engine: Engine["name"]): number {
  const targets = Object.entries(manifest.targets) as [TargetName, Target][];
  const bytes = targets.map(([name, target]) => {
    if (target.engine !== engine) return 0;
    return measurements[name]?.memory?.peak ?? manifest.files[target.model]?.size ?? 0;
  });
  return Math.max(0, ...bytes);
}
