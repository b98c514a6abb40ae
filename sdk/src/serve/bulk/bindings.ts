/** Metadata of an object in a jobs bucket. */
export interface JobsObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly etag: string;
  readonly customMetadata?: Readonly<Record<string, string>> | undefined;
}

/** The part of a Workers R2 bucket binding that jobs use. `r2Store` reads models from it too. */
export interface JobsBucket {
  get(
    key: string,
    options?: { range: { offset: number; length?: number } },
  ): Promise<(JobsObject & { body: ReadableStream<Uint8Array> }) | null>;
  head(key: string): Promise<JobsObject | null>;
  put(
    key: string,
    value: string,
    options: { httpMetadata: { contentType: string }; customMetadata?: Record<string, string> },
  ): Promise<unknown>;
  list(options: {
    prefix: string;
    startAfter?: string;
    cursor?: string;
    include?: "customMetadata"[];
  }): Promise<{ objects: JobsObject[]; truncated: boolean; cursor?: string }>;
}

/** The part of a Workers queue binding that jobs use. */
export interface JobsQueue {
  send(body: unknown, options?: { contentType?: "json"; delaySeconds?: number }): Promise<unknown>;
  sendBatch(messages: readonly { body: unknown; contentType?: "json" }[]): Promise<unknown>;
}

/** The part of a batch of queue messages that jobs use. */
export interface JobsBatch {
  readonly messages: readonly {
    readonly body: unknown;
    /** Deliveries of this message, with this one. */
    readonly attempts: number;
    ack(): void;
    retry(options?: { delaySeconds?: number }): void;
  }[];
}

/** Where jobs are kept: a bucket for their inputs and results, and a queue for the work that is left. */
export interface JobsPlace {
  readonly bucket: JobsBucket;
  readonly queue: JobsQueue;
}
