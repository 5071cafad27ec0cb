import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { TestServer } from "./server.ts";

/** Replaces the configuration file of a server, and reloads it. */
export async function reload(server: TestServer, configuration: string): Promise<void> {
  writeFileSync(join(server.dataDir, "nuthatch.yaml"), configuration);
  const response = await fetch(`${server.url}/rest/reload`, {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: "reload_configuration=1",
  });
  expect(response.status).toBe(200);
}
