import type { Fault } from "./fault.ts";
import { clockSkew } from "./kinds/clock-skew.ts";
import { diskFull } from "./kinds/disk-full.ts";
import { evictedIsolate } from "./kinds/evicted-isolate.ts";
import { faultyPages } from "./kinds/faulty-pages.ts";
import { faultyRegions } from "./kinds/faulty-region.ts";
import { faultyStores } from "./kinds/faulty-store.ts";
import { interleavings } from "./kinds/interleavings.ts";
import { killedPublisherInFolder, killedPublisherInS3 } from "./kinds/killed-publisher.ts";

/** All faults, in the order of the table in docs/reliability.md. */
export const faults: readonly Fault[] = [
  killedPublisherInFolder,
  killedPublisherInS3,
  diskFull,
  ...faultyStores,
  ...faultyPages,
  interleavings,
  clockSkew,
  evictedIsolate,
  ...faultyRegions,
];
