import { shown } from "../../../artifact/shown.ts";
import type { FileFaults, StoredFile } from "../../files/stored-file.ts";
import { entryRange, type ZipEntry, zipEntries } from "../../files/zip-entries.ts";

/** The archive that `torch.save` writes. */
export interface TorchArchive {
  /** Describes the tensors. */
  readonly pickle: Uint8Array;
  /** Whether the archive is TorchScript: it then holds a program, too. */
  readonly isTorchScript: boolean;
  /**
   * Returns where the bytes of a storage begin and end in the file.
   *
   * @throws the error that `faults` makes, when there is no such storage
   */
  readonly locate: (key: string) => { begin: number; end: number };
}

/** First bytes of the files that PyTorch wrote before 1.6: a pickle of protocol 2 with a magic number. */
const BEFORE_1_6 = [0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];

/** The entry with the pickle. The other entries are in the same folder. */
const PICKLE = /^([^/]+)\/data\.pkl$/;

/** Maximum size of the pickle in bytes. It has up to 200 bytes for each tensor of a model. */
const MAX_PICKLE_BYTES = 2 ** 24;

/** Maximum size of the entry that names the byte order: "little" or "big". */
const MAX_BYTE_ORDER_BYTES = 6;

/**
 * Opens an archive. Reads its directory and its pickle, not its tensors.
 *
 * @throws the error that `faults` makes, for a damaged archive or one of another format
 */
export function openArchive(file: StoredFile, faults: FileFaults): TorchArchive {
  if (beginsWith(file, BEFORE_1_6)) throw faults.unsupported("was written in the format of PyTorch before 1.6");
  const entries = zipEntries(file, faults);
  const prefix = prefixOf(entries, faults);
  const bytesOf = (entry: ZipEntry, maximum: number) => {
    const { begin, end } = entryRange(file, entry, faults);
    if (end - begin > maximum)
      throw faults.invalid(`its entry ${entry.name} has ${end - begin} bytes, but may have at most ${maximum}`);
    return file.subarray(begin, end);
  };
  const byteOrder = entries.get(`${prefix}/byteorder`);
  // Files from before PyTorch 2.1 do not name their byte order.
  if (byteOrder) assertLittleEndian(bytesOf(byteOrder, MAX_BYTE_ORDER_BYTES), faults);
  return {
    pickle: bytesOf(entries.get(`${prefix}/data.pkl`) as ZipEntry, MAX_PICKLE_BYTES),
    // torch.load recognizes TorchScript by the same entry.
    isTorchScript: entries.has(`${prefix}/constants.pkl`),
    locate(key) {
      const entry = entries.get(`${prefix}/data/${key}`);
      if (!entry) throw faults.invalid(`it has no entry data/${shown(key).slice(1, -1)}`);
      return entryRange(file, entry, faults);
    },
  };
}

function beginsWith(file: StoredFile, bytes: readonly number[]): boolean {
  if (file.length < bytes.length) return false;
  const first = file.subarray(0, bytes.length);
  return bytes.every((byte, i) => first[i] === byte);
}

function prefixOf(entries: ReadonlyMap<string, ZipEntry>, faults: FileFaults): string {
  const [prefix, ...others] = [...entries.keys()].flatMap((name) => PICKLE.exec(name)?.[1] ?? []);
  if (prefix === undefined || others.length > 0) throw faults.invalid("it does not have exactly one data.pkl");
  return prefix;
}

function assertLittleEndian(byteOrder: Uint8Array, faults: FileFaults): void {
  const name = Buffer.from(byteOrder).toString("latin1");
  if (name === "big") throw faults.unsupported("is big-endian");
  if (name !== "little") throw faults.invalid(`its byte order is ${shown(name)} instead of little or big`);
}
