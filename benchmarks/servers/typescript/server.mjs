// The TypeScript SDK: the same tools, registered in the factory. Their schemas are given in one of three ways:
//   zod          made in the factory, as the SDK's documentation shows (unless another is asked for)
//   zod-once     made once, outside of the factory
//   json-schema  the definitions' own, through fromJsonSchema

import { readFileSync } from "node:fs";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const tools = JSON.parse(readFileSync(process.argv[2], "utf8"));
const zodSchema = () => z.object({ a: z.string(), b: z.number().int() }).strict();
const once = zodSchema();
const ways = { zod: zodSchema, "zod-once": () => once, "json-schema": (tool) => fromJsonSchema(tool.inputSchema) };
const schemaOf = ways[process.argv.find((argument) => argument in ways) ?? "zod"];

export function factory() {
  const server = new McpServer({ name: "bench", version: "1" }, { capabilities: { tools: {} } });
  for (const tool of tools) {
    const { name, description } = tool;
    server.registerTool(name, { description, inputSchema: schemaOf(tool) }, async ({ a, b }) => ({
      content: [{ type: "text", text: JSON.stringify({ a, b }) }],
      structuredContent: { a, b },
    }));
  }
  return server;
}
