import type { Configuration } from "../../configuration/configuration.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { ServerClient, ServerRefusal, ServerUnreachable } from "../client/server-client.ts";
import { SECURITY_RULES, type SecurityRule } from "./security-rules.ts";

/** A breach of a rule of the hardening guide. */
export interface SecurityFinding extends Pick<SecurityRule, "severity"> {
  readonly rule: SecurityRule["id"];
  readonly message: string;
}

/** Returns the status of a management request without credentials. Undefined if no server answers. */
async function openStatus({ host, port }: Configuration["server"], clock: Clock): Promise<number | undefined> {
  const name = /^(?:0\.0\.0\.0|::)$/.test(host) ? "127.0.0.1" : host;
  const url = `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
  try {
    await new ServerClient({ url }, { clock, credentials: "none" }).request("GET", "/api/v1/jobs", {
      query: { limit: "1" },
    });
    return 200;
  } catch (error) {
    if (error instanceof ServerUnreachable) return undefined;
    if (error instanceof ServerRefusal) return error.status;
    throw error;
  }
}

/** Compares an installation with the hardening guide. `isRunning`: a server has answered. */
export async function checkSecurity(
  configuration: Configuration,
  clock: Clock,
): Promise<{ readonly findings: readonly SecurityFinding[]; readonly isRunning: boolean }> {
  const status = await openStatus(configuration.server, clock);
  const installation = {
    configuration,
    node: process.versions.node,
    nowMs: clock.now(),
    openStatus: status,
  };
  const findings = SECURITY_RULES.flatMap(({ id, severity, breaches }) =>
    breaches(installation).map((message) => ({ severity, rule: id, message })),
  );
  return { findings, isRunning: status !== undefined };
}
