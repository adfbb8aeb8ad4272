// Usage: node stdio.mjs TOOLS_FILE

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { factory } from "./server.mjs";

serveStdio(factory, { legacy: "reject" });
