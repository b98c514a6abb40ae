/** What starting workerd and asking it takes without a model. */
export default { fetch: (): Response => new Response() };
