// TypeScript SDK 2.x. Usage: connect | serve | reject (on stdio), http PORT serve|reject
import { createServer } from "node:http";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";

function build() {
  const server = new McpServer({ name: "sdk2", version: "1" });
  server.registerTool("now", { description: "The time", annotations: { readOnlyHint: true } }, async () => ({
    content: [{ type: "text", text: "noon" }],
  }));
  return server;
}

async function toWeb(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = chunks.length ? Buffer.concat(chunks) : undefined;
  return new Request(`http://${request.headers.host}${request.url}`, {
    method: request.method,
    headers: Object.entries(request.headers),
    body,
  });
}

const [, , mode, port, legacy] = process.argv;
if (mode === "connect") {
  await build().connect(new StdioServerTransport());
} else if (mode === "http") {
  const handler = createMcpHandler(build, legacy === "reject" ? { legacy } : {});
  createServer(async (request, response) => {
    const answer = await handler.fetch(await toWeb(request));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  }).listen(Number(port), "127.0.0.1");
} else {
  serveStdio(build, mode === "reject" ? { legacy: mode } : {});
}
