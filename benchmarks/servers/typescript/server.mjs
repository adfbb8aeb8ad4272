// The TypeScript SDK: the same tools, registered in the factory as its documentation shows, with zod.
// With --once their validators are made once, outside of it.

import { readFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const tools = JSON.parse(readFileSync(process.argv[2], "utf8"));
const arguments_ = () => z.object({ a: z.string(), b: z.number().int() }).strict();
const once = process.argv.includes("--once") ? arguments_() : undefined;

export function factory() {
  const server = new McpServer({ name: "bench", version: "1" }, { capabilities: { tools: {} } });
  for (const { name, description } of tools) {
    server.registerTool(name, { description, inputSchema: once ?? arguments_() }, async ({ a, b }) => ({
      content: [{ type: "text", text: JSON.stringify({ a, b }) }],
      structuredContent: { a, b },
    }));
  }
  return server;
}
