/**
 * The program of a thread that runs one session of onnxruntime-node. It answers each task of `OrtTask`.
 *
 * It is text, not a file, so that a bundle of the region needs no second file. Because nothing compiles the text, it is plain
 * CommonJS for Node.
 */
export const SESSION_THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const { env, InferenceSession, Tensor } = require(workerData.onnxruntime);

env.logLevel = workerData.logLevel;

let session;

async function answerTo(task) {
  if ("model" in task) {
    session = await InferenceSession.create(task.model, task.options);
    return { inputNames: session.inputNames, outputNames: session.outputNames };
  }
  const feeds = {};
  for (const [name, { data, dims }] of Object.entries(task.feeds)) feeds[name] = new Tensor("int64", data, dims);
  const { data, dims } = (await session.run(feeds, [task.output]))[task.output];
  return { data, dims };
}

parentPort.on("message", (task) => {
  answerTo(task).then(
    (answer) => parentPort.postMessage(answer),
    (error) => parentPort.postMessage({ error: String(error?.message ?? error) }),
  );
});
`;
