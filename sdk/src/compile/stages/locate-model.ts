import { existsSync } from "node:fs";
import { BertEdgeError } from "../../artifact/error.ts";
import { meantNames } from "../../artifact/similar-names.ts";
import { type HubModel, hubModel, hubPageOf } from "../../storage/hub-model.ts";
import { catalogue, catalogueModel } from "../checkpoint/hub/catalogue.ts";
import { type DownloadedModel, downloadModel } from "../checkpoint/hub/download-model.ts";
import { type ModelInput, modelPath } from "../files/folders.ts";
import type { Stage, StageRun } from "./stage.ts";

/** The commit of a model of the Hugging Face Hub. */
export interface HubSource {
  /** The model's name. It differs from the name that was asked for if the model was renamed. */
  readonly name: string;
  readonly commit: string;
  /** Whether the Hub could not be asked, so that this is the last known commit of the revision. */
  readonly isOffline: boolean;
}

/** A model on this machine. */
export interface LocatedModel {
  readonly path: string;
  /** Where the model was downloaded from; undefined for a local model. */
  readonly source: HubSource | undefined;
}

/** Downloads a model of the Hub. */
const download: Stage<HubModel, DownloadedModel> = {
  name: "download",
  describe: ({ name, revision }) => `ask the Hugging Face Hub for ${name}@${revision}`,
  run: (model, { signal, progress }) => downloadModel(model, { signal, onProgress: progress }),
  report: ({ name, commit, bytes, downloadedBytes, isOffline }) => ({
    model: name,
    commit,
    bytes,
    downloadedBytes,
    offline: isOffline,
  }),
};

/**
 * Returns the path of a model. A model of the Hub is downloaded first, and a model in memory is written to `folder`.
 *
 * @throws BertEdgeError `checkpoint_missing` when there is no such path, and the errors of `modelPath` and `downloadModel`
 */
export async function locateModel(run: StageRun["run"], model: ModelInput, folder: string): Promise<LocatedModel> {
  const hub = typeof model === "string" ? hubModel(hubNameOf(model)) : undefined;
  if (hub) {
    const { path, name, commit, isOffline } = await run(download, hub);
    return { path, source: { name, commit, isOffline } };
  }
  if (typeof model === "string" && !existsSync(model)) assertNoHubName(model);
  return { path: await modelPath(model, folder), source: undefined };
}

/** Replaces a name of the catalogue by the model's name on the Hub. Returns existing paths, and anything else, unchanged. */
const hubNameOf = (model: string): string => (existsSync(model) ? model : (catalogueModel(model)?.hub ?? model));

/** @throws BertEdgeError `checkpoint_missing` for a path that looks like a model of the catalogue or of the Hub */
function assertNoHubName(path: string): void {
  const meant = meantNames(path, Object.keys(catalogue()));
  if (meant !== "") {
    throw new BertEdgeError("checkpoint_missing", `There is no folder ${path}, and no model of this name.${meant}`, {
      hint: "`npx bert-edge models` lists the models that have a name of their own.",
    });
  }
  const page = hubPageOf(path);
  if (page === undefined) return;
  throw new BertEdgeError("checkpoint_missing", `There is no folder ${path}.`, {
    hint: `If you mean the model of the Hugging Face Hub, give its address: ${page}`,
  });
}
