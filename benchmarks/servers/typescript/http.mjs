// Usage: node http.mjs TOOLS_FILE PORT [zod | zod-once | json-schema]

import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { factory } from "./server.mjs";

const handler = toNodeHandler(createMcpHandler(factory, { legacy: "reject" }));
createServer(handler).listen(Number(process.argv[3]), "127.0.0.1");
