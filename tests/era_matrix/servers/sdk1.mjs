// TypeScript SDK 1.x. Usage: [http PORT [stateless]]; stdio without arguments.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

function build() {
  const server = new McpServer({ name: "sdk1", version: "1" });
  server.registerTool("now", { description: "The time" }, async () => ({ content: [{ type: "text", text: "noon" }] }));
  return server;
}

const [, , mode, port, sessions] = process.argv;
if (mode !== "http") {
  await build().connect(new StdioServerTransport());
} else {
  const open = async (sessionIdGenerator) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator });
    await build().connect(transport);
    return transport;
  };
  const shared = sessions === "stateless" ? null : await open(() => randomUUID());
  createServer(async (request, response) => {
    const transport = shared ?? (await open(undefined));
    await transport.handleRequest(request, response);
  }).listen(Number(port), "127.0.0.1");
}
