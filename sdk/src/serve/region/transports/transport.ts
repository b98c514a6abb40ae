/** Carries requests to the region, and its responses back. */
export interface Transport {
  /** Names the region in messages. */
  readonly host: string;
  /** The settings to check when the region cannot be reached. The first one is its address. */
  readonly settings: readonly string[];
  /**
   * Sends a JSON body, with the region's key.
   *
   * @param path is appended to the region's URL
   * @param headers of the request, which platforms may change on the way
   */
  post(path: string, body: object, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>;
  /** Sends a request without a body. */
  get(path: string, options: { withKey: boolean }, signal: AbortSignal): Promise<Response>;
}
