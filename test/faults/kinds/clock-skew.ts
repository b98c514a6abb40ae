import { importSigningKey, newSigningKey } from "#sdk/artifact/signing-key.ts";
import { collectGarbage } from "#sdk/storage/collect-garbage.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { publish } from "#sdk/storage/publish.ts";
import { signedStore } from "#sdk/storage/signed.ts";
import { smallArtifact } from "../../fixtures/small-artifact.ts";
import type { Fault } from "../fault.ts";
import { readWhole } from "../outcome-of.ts";

const DAY_MS = 86_400_000;
const MOST_DAYS = 1_000;

/** Runs `work` with the clock of this process put forward or back. */
async function withSkew<T>(skewMs: number, work: () => Promise<T>): Promise<T> {
  const { now } = Date;
  Date.now = () => now() + skewMs;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
}

/** The clocks of a publisher and of a `gc` differ from those of the readers by up to 1,000 days. Models are signed for 30 days. */
export const clockSkew: Fault = {
  name: "clocks of publisher and gc wrong",
  times: { long: 200, short: 20 },
  async start() {
    const key = await importSigningKey(await newSigningKey());
    const publishNow = async (store: ReturnType<typeof memoryStore>, content: string) => {
      const signing = { key, expires: new Date(Date.now() + 30 * DAY_MS) };
      await publish(await smallArtifact(content), store, { signing });
    };
    return {
      async attempt(random) {
        const contents = { old: "old", new: "new" };
        const unsigned = memoryStore();
        const store = signedStore(unsigned, { signers: [key.signer] });
        const reader = signedStore(unsigned, { signers: [key.signer] });
        const skew = () => (2 * random() - 1) * MOST_DAYS * DAY_MS;
        await publishNow(store, "old");
        await readWhole(reader, contents);
        await withSkew(skew(), () => publishNow(store, "new"));
        await withSkew(skew(), () => collectGarbage(unsigned, { olderThanMs: DAY_MS }));
        const outcome = await readWhole(reader, contents);
        await publishNow(store, "new");
        return { outcome, recovered: (await readWhole(reader, contents)) === "new" };
      },
      async [Symbol.asyncDispose]() {},
    };
  },
};
