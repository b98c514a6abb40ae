import { BertEdgeError } from "../../../artifact/error.ts";
import type { HubModel } from "../../../storage/hub-model.ts";
import { HubCache } from "./hub-cache.ts";
import { type HubCommit, type HubRepository, isCommit } from "./repository.ts";
import { type RetryOptions, untilAvailable } from "./until-available.ts";

export interface FoundCommit {
  readonly at: HubCommit;
  /** Whether the Hub could not be asked, so that this is the last known commit of the revision. */
  readonly isOffline: boolean;
}

/**
 * Returns the commit of a model's revision. Asks the Hub, except for commits, which never change. If the Hub cannot be
 * asked, returns the commit that the cache knows.
 *
 * @param root folder of the cache
 * @throws the errors of `HubRepository.resolve`
 */
export async function findCommit(
  model: HubModel,
  root: string,
  repository: HubRepository,
  options: RetryOptions,
): Promise<FoundCommit> {
  const { name, revision } = model;
  if (isCommit(revision)) return { at: { name, commit: revision }, isOffline: false };
  const known = await new HubCache(root, name).commitOf(revision);
  const ask = () => repository.resolve(model);
  try {
    const at = await (known === undefined ? untilAvailable(ask, options) : ask());
    await new HubCache(root, at.name).setCommit(revision, at.commit);
    return { at, isOffline: false };
  } catch (error) {
    const isUnavailable = error instanceof BertEdgeError && error.code === "hub_unavailable";
    if (known === undefined || !isUnavailable) throw error;
    return { at: { name, commit: known }, isOffline: true };
  }
}
