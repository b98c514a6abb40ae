/** Reads the JSON of `/v1/embed`, and answers with the bytes of the variable ANSWER. */
export default {
  async fetch(request: Request, { ANSWER }: { ANSWER: string }): Promise<Response> {
    if (request.method === "GET") return new Response();
    const { inputs } = (await request.json()) as { inputs?: unknown };
    if (!Array.isArray(inputs)) return new Response(null, { status: 400 });
    return new Response(ANSWER, { headers: { "content-type": "application/json" } });
  },
};
