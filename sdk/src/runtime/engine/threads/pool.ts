import { sessionReleased } from "../engine-error.ts";

/** An object that works in its own thread, on one task at a time. */
export interface Member {
  /** Whether its thread is still running. */
  isAlive(): boolean;
  release(): Promise<void>;
}

/** Members of one kind that work side by side. */
export interface Pool<M extends Member> {
  readonly members: ReadonlySet<M>;
  /**
   * Performs the parts of a request, each on the next idle member. When a part fails, the parts that have not begun are dropped.
   *
   * @returns the results, in the order of the parts
   */
  run<T>(parts: readonly ((member: M) => Promise<T>)[]): Promise<T[]>;
  release(): Promise<void>;
}

export interface PoolOptions<M> {
  readonly size: number;
  open(): Promise<M>;
}

interface Job<M> {
  /** The list of all parts of the request. Identifies the jobs of the same request. */
  readonly request: unknown;
  perform(member: M): Promise<void>;
  fail(error: unknown): void;
}

/**
 * Opens all members of a pool. If the thread of a member has ended, a new member is opened for the next part.
 *
 * @throws the errors of `open`
 */
export async function openPool<M extends Member>({ size, open }: PoolOptions<M>): Promise<Pool<M>> {
  const members = new Set<M>();
  const idle: M[] = [];
  let waiting: Job<M>[] = [];
  let busy = 0;
  let isReleased = false;

  async function add(): Promise<M> {
    const member = await open();
    if (isReleased) {
      await member.release();
      throw sessionReleased();
    }
    members.add(member);
    return member;
  }

  async function release(): Promise<void> {
    isReleased = true;
    for (const { fail } of waiting) fail(sessionReleased());
    waiting = [];
    await Promise.all([...members].map((member) => member.release()));
  }

  /** Takes an idle member. Opens a new one if none is idle or if the thread of the idle one has ended. */
  async function take(): Promise<M> {
    const member = idle.pop();
    if (member?.isAlive()) return member;
    if (member) members.delete(member);
    return add();
  }

  async function perform({ request, perform, fail }: Job<M>): Promise<void> {
    try {
      const member = await take();
      try {
        await perform(member);
      } finally {
        if (member.isAlive()) idle.push(member);
        else members.delete(member);
      }
    } catch (error) {
      fail(error);
      waiting = waiting.filter((job) => job.request !== request);
    }
  }

  function start(): void {
    while (busy < size) {
      const job = waiting.shift();
      if (!job) return;
      busy++;
      void perform(job).finally(() => {
        busy--;
        start();
      });
    }
  }

  const opened = await Promise.allSettled(Array.from({ length: size }, add));
  for (const outcome of opened) {
    if (outcome.status === "fulfilled") idle.push(outcome.value);
  }
  const failed = opened.find((outcome) => outcome.status === "rejected");
  if (failed) {
    await release();
    throw failed.reason;
  }

  return {
    members,
    async run<T>(parts: readonly ((member: M) => Promise<T>)[]) {
      const results = parts.map((part) => {
        const { promise, resolve, reject } = Promise.withResolvers<T>();
        const perform = async (member: M) => resolve(await part(member));
        waiting.push({ request: parts, perform, fail: reject });
        return promise;
      });
      start();
      return Promise.all(results);
    },
    release,
  };
}
