import * as v from "valibot";
import { BertEdgeError } from "./error.ts";
import { type GoldenTexts, PREPARE_AGAIN } from "./manifest.ts";
import { readSafetensors, writeSafetensors } from "./safetensors.ts";

/** Name of the file with the golden texts, in safetensors: one tensor [texts, dimensions], and the texts in its metadata. */
export const GOLDEN_FILE = "golden.safetensors";

const TENSOR = "vectors";
const Texts = v.pipe(v.string(), v.parseJson(), v.array(v.string()));

/** Writes golden texts, of which there must be at least one, and their vectors as a safetensors file. */
export function writeGolden({ texts, vectors }: GoldenTexts): Uint8Array<ArrayBuffer> {
  const dimensions = vectors[0]?.length ?? 0;
  const rows = new Float32Array(vectors.length * dimensions);
  vectors.forEach((vector, index) => {
    rows.set(vector, index * dimensions);
  });
  const tensor = { dtype: "F32", shape: [vectors.length, dimensions], data: new Uint8Array(rows.buffer) } as const;
  return writeSafetensors([[TENSOR, tensor]], { metadata: { texts: JSON.stringify(texts) } });
}

/**
 * Reads the golden texts of a model.
 *
 * @param dimensions size of the model's vectors
 * @param where names the artifact in messages
 * @throws BertEdgeError `artifact_corrupt`
 */
export function parseGolden(file: Uint8Array<ArrayBuffer>, dimensions: number, where: string): GoldenTexts {
  const refuse = (fault: string, cause?: unknown) =>
    new BertEdgeError("artifact_corrupt", `Cannot read ${GOLDEN_FILE} of ${where}: ${fault}.`, {
      hint: PREPARE_AGAIN,
      cause,
    });
  const { tensors, metadata } = readSafetensors(file, refuse);
  const texts = v.safeParse(Texts, metadata.get("texts"));
  if (!texts.success) throw refuse("its texts are not a list of strings");
  const tensor = tensors.get(TENSOR);
  if (tensor?.dtype !== "F32" || `${tensor.shape}` !== `${[texts.output.length, dimensions]}`) {
    throw refuse(`it has no vectors F32[${[texts.output.length, dimensions]}]`);
  }
  // The copy is aligned to 4 bytes, which the tensor in the file need not be.
  const rows = new Float32Array(file.slice(tensor.begin, tensor.end).buffer);
  const vectors = texts.output.map((_, index) => rows.slice(index * dimensions, (index + 1) * dimensions));
  return { texts: texts.output, vectors };
}
