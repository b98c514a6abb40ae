/**
 * Every error code of the package: when it occurs, and how to fix it. `docs/errors.md` is generated from this table.
 * `npx vitest run test/docs --update` generates it again. If an HTTP response can contain a new code, add the code and
 * its HTTP status to `serve/contract/errors.ts`.
 *
 * Other modules import only the type `ErrorCode`, so no bundle contains these texts.
 */
export const errorCodes = {
  // Reading and publishing
  artifact_corrupt: {
    when: "A file of an artifact is missing, or does not match its SHA-256.",
    fix: "Publish the artifact again with --verify, which repairs the store. If its own folder is damaged, prepare it again.",
  },
  artifact_missing: {
    when: "The folder has no manifest.json.",
    fix: "Give the folder that `bert-edge prepare --out` wrote.",
  },
  asset_too_large: {
    when: "A file is larger than Cloudflare allows for static assets (25 MiB).",
    fix: "Prepare with `--targets edge` only, or publish to a bucket.",
  },
  buffer_invalid: {
    when: "`readInto` got a buffer whose size differs from the file's.",
    fix: "Allocate the size that the manifest lists for the file.",
  },
  manifest_invalid: {
    when: "manifest.json cannot be read by this version of bert-edge.",
    fix: "Prepare and publish the model again with this version.",
  },
  model_not_published: {
    when: "The store has no model of this name.",
    fix: "Publish the model to this store, or correct its name.",
  },
  place_missing: {
    when: "The folder of models that a command is to read does not exist.",
    fix: "Correct the path, or publish a model to it first.",
  },
  pointer_invalid: {
    when: "`models/<name>/current.json`, or the pointer of a version beside it, cannot be read, or names another model.",
    fix: "Publish the model again under its own name, or make another version current with `bert-edge promote`.",
  },
  conditional_writes_missing: {
    when: "The S3 service refuses or ignores conditional writes, so it cannot keep two publishers of a model apart.",
    fix: "If nobody else publishes to the bucket at the same time, give --single-publisher. Otherwise use AWS S3 or R2.",
  },
  publish_conflict: {
    when: "Another publisher has made a version of the model current meanwhile.",
    fix: "See `bert-edge list`. If your version is the wanted one, make it current with `bert-edge promote`.",
  },
  setting_invalid: {
    when: "A setting is missing or not valid. The message names it.",
    fix: "Set the variable or option that the message names.",
  },
  signature_invalid: {
    when: "The pointer to a model is not signed by one of MODEL_SIGNERS, was changed, has expired, or is older than one seen before or than MODEL_MIN_SEQUENCE.",
    fix: "Publish the model with --signing-key, or promote its version with it. If none of you has changed the pointer, find out who has.",
  },
  signing_key_invalid: {
    when: "The signing key is not an Ed25519 key in PEM, or its file cannot be read.",
    fix: "Make a key with `bert-edge keys signer`, and give its file with --signing-key.",
  },
  signing_key_missing: {
    when: "The current version of a model is signed, and the new one would not be.",
    fix: "Give --signing-key, or set BERT_EDGE_SIGNING_KEY to the key.",
  },
  storage_unavailable: {
    when: "A store cannot be reached, refuses access, or is too slow.",
    fix: "Set the variable or run the command that the hint names. Trying again can help.",
  },
  // Loading and running a model
  engine_failed: {
    when: "The engine could not load or run the model.",
    fix: "Check that the engine's package is installed and that the artifact was prepared by this version.",
  },
  engine_mismatch: {
    when: "The artifact's target was prepared for a different engine.",
    fix: "Use the engine that the message names, or prepare the model again.",
  },
  input_invalid: {
    when: "The engine got token ids that the model does not have, too many of them, or an unwanted pair.",
    fix: "Tokenize texts with the model's own tokenizer and cut them to its maximum length.",
  },
  model_too_large: {
    when: "A model cannot fit where it is meant to run: its weights alone exceed the memory of an isolate of Workers.",
    fix: "Prepare it for a region (`--targets regional-cpu`), give `--table int4` and `--weights int4`, or take a smaller model. `prepare --force` goes on.",
  },
  machine_too_small: {
    when: "Preparing the model needs more memory than the machine has.",
    fix: "Prepare it on a machine with more memory, or raise the container's limit.",
  },
  memory_full: {
    when: "The model does not fit into the memory limit.",
    fix: "Raise the limit, unload other models, or prepare with `--table int4` or `--max-memory`.",
  },
  model_invalid: {
    when: "A model file is damaged: it has NaN or infinite weights, or is not the one that the manifest describes.",
    fix: "Prepare the model again.",
  },
  model_unavailable: {
    when: "The model did not load in time, or it is damaged. The log has the reason.",
    fix: "Try again in a few seconds. If the error stays, check the object store and the log.",
  },
  model_version: {
    when: "The model file was written for a different version of the WebAssembly engine.",
    fix: "Prepare the model again, or deploy the version of bert-edge that prepared it.",
  },
  package_bundled: {
    when: "A call starts threads or subprocesses, which need modules of bert-edge or onnxruntime-node as files. A bundle has none of these files. Or a bundle for browsers runs in Node.",
    fix: "Do what the hint says for your bundler.",
  },
  package_missing: {
    when: "An optional package is not installed, or it is too old.",
    fix: "Run the command that the hint names.",
  },
  pairs_unsupported: {
    when: "The model's tokenizer has no template for two texts, or its template is not supported.",
    fix: "Send single texts, or use a model whose tokenizer.json has a template for pairs.",
  },
  offsets_unsupported: {
    when: "A task needs the places of tokens in a text, but the tokenizer has no packed form.",
    fix: "Use a model with a tokenizer that has a packed form, and prepare it again.",
  },
  prompt_unknown: {
    when: "A request names a prompt that the model does not have.",
    fix: "Use one of the prompts that the hint lists, or leave the name out.",
  },
  session_released: {
    when: "A model was used after it was released.",
    fix: "Release a model after its last use, or load it again.",
  },
  target_missing: {
    when: "The artifact has no target for this engine.",
    fix: "Prepare the model again, with the target that the message names in `--targets`.",
  },
  task_unsupported: {
    when: "The model has another task than the one that was asked for.",
    fix: "Use the route of the model's own task, or serve another model.",
  },
  task_unsuitable: {
    when: "The model has no head for the chosen task.",
    fix: "Choose one of the tasks that the message lists, or leave `--task` out.",
  },
  tokenizer_invalid: {
    when: "The artifact's tokenizer cannot be read, or does not fit the model: its token ids, or the number of its special tokens.",
    fix: "Prepare the model again.",
  },
  vector_invalid: {
    when: "The model computed NaN or infinite numbers.",
    fix: "Check the checkpoint for NaN and for very large weights, or use an earlier checkpoint.",
  },
  worker_failed: {
    when: "A worker thread of the engine ended during a request.",
    fix: "Nothing to do: the worker is replaced. If it happens again, report the texts' token counts.",
  },
  // Requests
  body_too_large: { when: "The request body is larger than `maxBodyBytes`.", fix: "Send fewer or shorter texts." },
  body_too_slow: {
    when: "The request body did not arrive: it was interrupted, or came too slowly.",
    fix: "Send the body at once. Over a slow network, send fewer texts in a request.",
  },
  budget_exceeded: {
    when: "The latency budget was over before the answer could be computed.",
    fix: "Send `x-latency-budget-ms` with a larger number, or with `none`. Sending the same request again does not help.",
  },
  budget_invalid: {
    when: "A latency budget is not a positive number of milliseconds, or `grpc-timeout` has the wrong format.",
    fix: "Send milliseconds, for example 30, or `none`, or leave the budget out.",
  },
  content_type_unsupported: {
    when: "The request body is not declared as JSON.",
    fix: "Send `Content-Type: application/json`.",
  },
  rate_limited: {
    when: "The key or the caller has reached a limit per minute. The message has the figure.",
    fix: "Send the request again after the time in the header `retry-after-ms`, or ask for a higher limit.",
  },
  method_unsupported: {
    when: "The route exists, but not with this method.",
    fix: "Use one of the methods in the header `Allow`.",
  },
  dimensions_unsupported: {
    when: "`dimensions` is larger than the model's vectors.",
    fix: "Leave it out, or send at most the model's size.",
  },
  input_empty: { when: "A text is empty, or there are no texts.", fix: "Give at least one text, and no empty ones." },
  input_too_long: {
    when: "A text has more tokens than the model takes, or more than 250,000 characters where it must be read to its end.",
    fix: "Send a shorter text, or ask for truncation.",
  },
  internal: {
    when: "An unexpected fault in the service.",
    fix: "The operator finds the cause in the log. Another try seldom helps.",
  },
  key_missing: { when: "The request has no API key.", fix: "Send `Authorization: Bearer <key>`." },
  key_wrong: {
    when: "The API key is not one of this deployment's, or the key of a job was removed from them.",
    fix: "Send one of the deployment's keys. For a job, add a key of the same name, and start the job again.",
  },
  keys_not_configured: {
    when: "The deployment has no API keys, so it answers nobody.",
    fix: "Set the secret API_KEYS.",
  },
  model_unknown: {
    when: "The request names a model that this deployment does not serve.",
    fix: "Leave `model` out, or name the served model.",
  },
  overloaded: {
    when: "More requests wait than can be answered in time.",
    fix: "Retry after the time in `retry-after-ms`, or give a larger budget. Add a region, or machines to it.",
  },
  precision_unavailable: {
    when: "No tier that may answer computes with the precision in `x-bert-edge-precision`.",
    fix: "Ask for a lower precision, or prepare the model for a tier with this precision.",
  },
  region_failed: {
    when: "The region did not answer, or answered with an error. The edge answers instead.",
    fix: "Check REGION_URL, REGION_KEY and the region's log.",
  },
  request_too_costly: {
    when: "The request needs more CPU time than the platform allows for one request, and no region may answer it.",
    fix: "Send fewer or shorter texts, or add a region. On a paid Workers plan, raise `cpuLimitMs`.",
  },
  too_many_page_reads: {
    when: "The model's vocabulary is in pages, the request's texts need more than `maxPageReads` of the option `limits` from the store, and no region may answer it.",
    fix: "Send fewer texts a request, or add a region. If the platform allows more reads a request, raise `maxPageReads`.",
  },
  region_overloaded: {
    when: "The region refused a request because it has no time for it. The edge answers instead, or refuses too.",
    fix: "Try again later, or give the region more machines.",
  },
  request_invalid: { when: "The request body has the wrong format.", fix: "Correct the field that the message names." },
  route_unknown: { when: "There is no such route.", fix: "Use `POST /v1/embed` or `POST /v1/embeddings`." },
  tier_invalid: {
    when: "`x-bert-edge-tier`, or the option `tier` of a call, is not `edge`, `region` or `auto`.",
    fix: "Send one of these words, or leave it out.",
  },
  tier_missing: {
    when: "`x-bert-edge-tier` pins a tier that this deployment does not have. A deployment whose settings of the region are wrong has no region, and its log says so.",
    fix: "Configure a region, or correct the setting that the log names. Or send `auto`.",
  },
  tier_unavailable: {
    when: "`x-bert-edge-tier` pins a tier that failed a short time ago.",
    fix: "Send the request again later, or send `auto`.",
  },
  too_many_inputs: {
    when: "The request has more texts than the deployment takes, or the model's outputs for these texts are larger than `limits.maxOutputBytes`.",
    fix: "Send the texts in several requests, or send shorter ones.",
  },
  // Jobs of many records
  job_changed: {
    when: "The results of a job belong to another input, model version or options, or were changed.",
    fix: "Choose another output file or job name, or begin again. The message says what differs.",
  },
  job_incomplete: {
    when: "The results of a job are asked for before all of its parts exist.",
    fix: "Ask again later. If the job stands still, start it again: finished parts are kept.",
  },
  job_unknown: {
    when: "The caller's key has no job of this name, the job has no input, or a job of another key has this name.",
    fix: "Put the input at `jobs/<name>/input.jsonl` in the bucket, then start the job. If it is there, choose another name.",
  },
  record_invalid: {
    when: "A line of a job's input is not a record. It is set aside, and the job goes on.",
    fix: 'Write each record as {"id": "…", "text": "…"} in a line of up to a megabyte.',
  },
  // Preparing a model: its input
  checkpoint_invalid: {
    when: "A file of the model folder is damaged, or contradicts another file in it.",
    fix: "Download or save the model again. The message names the file.",
  },
  checkpoint_missing: {
    when: "The model folder, or a file it needs, does not exist.",
    fix: "Give a folder that save_pretrained() or Optimum wrote, or a model of the Hugging Face Hub with safetensors or pytorch_model.bin.",
  },
  checkpoint_unsupported: {
    when: "The model's architecture, one of its settings, or the format of its weights is not supported.",
    fix: "Use a supported model. The message says what is supported, or the hint how to convert the weights.",
  },
  export_unsupported: {
    when: "The ONNX file is not a float32 export of hidden states or logits, its fixed sizes cannot be changed, or its sentence_embedding is no known pooling.",
    fix: "Export the model again as the hint says, or give model.safetensors.",
  },
  external_data_invalid: {
    when: "The external data of an ONNX file is missing or damaged.",
    fix: "Put the data file into the folder of the .onnx file, or export the model again.",
  },
  file_too_large: {
    when: "A file is larger than the limit for its kind, so it is not read.",
    fix: "Give the file that was meant. The message has its size, and the limit.",
  },
  not_a_file: {
    when: "A folder, a named pipe, a socket or a device is in the place of a file. Reading it may never end.",
    fix: "Put a file in its place, or give the path of a file: write what a pipe gives to a file first.",
  },
  file_changed: {
    when: "A file changed while it was read.",
    fix: "Run the command again, and do not change the file while the command runs.",
  },
  graph_invalid: { when: "The ONNX graph contradicts itself.", fix: "Export the model again." },
  hub_access_denied: {
    when: "The Hugging Face Hub does not accept the access token, or the model is gated.",
    fix: "Ask for access on the model's page, and set HF_TOKEN to a token of the account that has it, or run `hf auth login`.",
  },
  hub_answer_invalid: {
    when: "The Hugging Face Hub, or the server in HF_ENDPOINT, does not answer as the Hub does.",
    fix: "Check HF_ENDPOINT and your proxy.",
  },
  hub_file_corrupt: {
    when: "A downloaded file does not match its hash on the Hugging Face Hub.",
    fix: "Run the command again.",
  },
  hub_model_missing: {
    when: "The Hugging Face Hub has no such model, revision or file, or the model is private.",
    fix: "Check the name and the revision. For a private model, set HF_TOKEN or run `hf auth login`.",
  },
  hub_unavailable: {
    when: "The Hugging Face Hub cannot be reached, is too slow, or refuses requests for a while.",
    fix: "Run the command again later. What was downloaded is kept.",
  },
  onnx_invalid: { when: "The file is not a valid ONNX file.", fix: "Export the model again." },
  onnx_missing: { when: "The ONNX file does not exist or cannot be read.", fix: "Correct the path." },
  safetensors_invalid: { when: "The file is not a valid safetensors file.", fix: "Download or save the model again." },
  tensor_dtype: {
    when: "A weight has a data type that is not supported.",
    fix: "Save the model in float32, float16 or bfloat16.",
  },
  tensor_shape: { when: "A tensor's shape does not match its data.", fix: "Save or export the model again." },
  weights_invalid: { when: "A weight is NaN or infinite.", fix: "Train or download the model again." },
  // Preparing a model: its result
  aborted: {
    when: "The caller's AbortSignal stopped the work.",
    fix: "Nothing was written. Start the work again.",
  },
  accepted_key_invalid: {
    when: "`--accept-key` names a key that the model's files do not have, or whose meaning is known. It cannot change a refused value.",
    fix: "Leave the option out, or name one of the keys in the hint.",
  },
  accuracy_gate: {
    when: "A quantized model differs too much from the float32 model.",
    fix: "Give your own calibration texts, or leave the target out. The message lists the accuracy loss of each layer.",
  },
  calibration_failed: {
    when: "The process that observes activations ended without a result.",
    fix: "Check that the machine has enough memory: several times the model's size.",
  },
  calibration_invalid: {
    when: "The model does not run on the calibration texts, or computes NaN on them.",
    fix: "Check the calibration texts and the checkpoint.",
  },
  calibration_missing: {
    when: "`int8-static` got neither calibration texts nor a tokenizer.",
    fix: "Give `--tokenizer <folder>`.",
  },
  data_invalid: {
    when: "A data file for a task has the wrong format.",
    fix: "Correct the line that the message names.",
  },
  data_missing: {
    when: "A data file for a task, or the input of a job, does not exist or cannot be read.",
    fix: "Correct the path.",
  },
  data_unsuitable: {
    when: "The data does not fit the model's task, or cannot be scored.",
    fix: "Use scored pairs (`--sts`) for encoders and labelled texts (`--labelled`) for classifiers. In a golden file, use the sizes, labels and prompts of the model.",
  },
  deploy_failed: {
    when: "A tool that `bert-edge deploy` called failed, or did not end in time.",
    fix: "Correct the error in the message, then run the command again. It continues with what is left.",
  },
  deploy_plan_differs: {
    when: "`wrangler deploy --dry-run` names another Worker or bucket than the plan of `bert-edge deploy`.",
    fix: "Choose the environment with `--env`, and see what wrangler prints for it. Nothing was changed.",
  },
  engine_unsupported: {
    when: "The WebAssembly engine cannot run this graph.",
    fix: "`bert-edge prepare` uses onnxruntime-web for this model instead. The message names the node.",
  },
  fusion_incomplete: {
    when: "A part of the graph could not be fused.",
    fix: "Run `bert-edge optimize` to see which nodes are not fused, and report the model.",
  },
  golden_mismatch: {
    when: "The float32 model does not give the answers of the golden file (`--golden`): the present system reads the model in another way.",
    fix: "Do what the hint says. It names the reading that gives the answers of the file, if one was found.",
  },
  inputs_unknown: {
    when: "The graph has no input named `input_ids`.",
    fix: "Export the model with the input names that transformers uses.",
  },
  login_missing: {
    when: "`bert-edge deploy` needs a login, keys or a choice that only a person can make.",
    fix: "Do once what the hint says: log in, name the account, or make keys. Then run the command again.",
  },
  model_constant: {
    when: "The model computes the same result for every text.",
    fix: "Check that the weights were loaded when the model was saved.",
  },
  name_invalid: {
    when: "The model's name has characters that are not allowed in object keys and URLs.",
    fix: "Give `--name` with 1 to 64 of the characters a-z 0-9 . _ -",
  },
  nothing_to_quantize: {
    when: "No weight of the model can be quantized.",
    fix: "Check that the file is a float32 model that is not quantized yet.",
  },
  object_key_invalid: {
    when: "The key of an object could name something outside of its store.",
    fix: "Correct the name and the version of the model, or the setting that names the object. Keys are names without colons, separated by slashes.",
  },
  out_occupied: {
    when: "The output folder holds files that are not an artifact.",
    fix: "Choose another folder, or empty it.",
  },
  out_unwritable: {
    when: "The output cannot be written.",
    fix: "Give a path in a folder that exists and that you may write to.",
  },
  parity_exceeded: {
    when: "The rewritten model differs from the original.",
    fix: "This is a bug in bert-edge: report the model.",
  },
  parity_failed: {
    when: "The process that compares models ended without a result.",
    fix: "Check that the machine has enough memory: several times the model's size.",
  },
  parity_impossible: {
    when: "The original or the result cannot be run, so they cannot be compared.",
    fix: "Check that the original runs in onnxruntime, or pass `--no-parity`.",
  },
  project_invalid: {
    when: "The folder is not a project, or wrangler's configuration in it is incomplete.",
    fix: "Run the command in your project's folder, and add what the message names.",
  },
  quantize_opset: {
    when: "The ONNX opset is too old for this quantization mode.",
    fix: "Export with opset 13 or newer.",
  },
  service_failed: {
    when: "A service that `bert-edge dev` started has ended or did not answer.",
    fix: "Read the output in the message, or run with `--verbose`.",
  },
  texts_not_encoded: {
    when: "The process that tokenizes texts ended without a result.",
    fix: "Check that transformers can load tokenizer.json.",
  },
  usage_invalid: {
    when: "A command of `bert-edge` got an option, an argument or a value that it does not take, or lacks one.",
    fix: "Correct what the message names. `bert-edge <command> --help` lists what the command takes.",
  },
} as const satisfies Record<string, { readonly when: string; readonly fix: string }>;

/** The code of a `BertEdgeError`. Codes are stable; messages and hints are not. */
export type ErrorCode = keyof typeof errorCodes;
