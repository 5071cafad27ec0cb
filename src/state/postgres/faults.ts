import { codeOf, errorMessage } from "../../lib/error-code.ts";
import type { PostgresTarget } from "./postgres-url.ts";
import type { Fault } from "./protocol.ts";

/** A password, an account, a database or a right is refused. PostgreSQL's message names it. */
const REFUSED = /^(?:28P01|28000|3D000|3F000|42501)$/;
/** Failures of certificates, by OpenSSL and by Node. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_OSSL|ERR_SSL/;
const NO_TLS = /does not support SSL|establishing an SSL connection/;
const NO_PASSWORD = /password must be a (?:non-empty )?string/;
/**
 * PostgreSQL cannot serve at present: it starts or stops, has no free connection, disk space or memory, has become a
 * standby, or has aborted a transaction to resolve a conflict.
 */
const UNAVAILABLE = /^(?:08|53|57P|58|25006|40|72)/;
/** Codes after which the connection cannot be used any more. */
const LOST = /^(?:08|57P|25006|25P03|25P04)/;

const LOST_WORDS = /^(?:Connection terminated(?: unexpectedly)?|(?:read|write) (?:ECONNRESET|EPIPE))$/;

const isOfServer = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code);

/** Returns whether an error means that the connection is lost, and is not the answer to a statement. */
export const isLoss = (error: unknown): boolean => {
  const code = codeOf(error);
  return !isOfServer(code) || LOST.test(code);
};

/** Returns why a connection could not be opened. */
export function faultOfConnection(error: unknown, target: PostgresTarget): Fault {
  const code = codeOf(error);
  const message = messageOf(error);
  if (NO_PASSWORD.test(message))
    return refused(
      code,
      target,
      "PostgreSQL requires a password, and neither state.url nor PGPASSWORD nor the password file (~/.pgpass, PGPASSFILE) has one",
    );
  if (NO_TLS.test(message))
    return refused(code, target, `${message}: sslmode=disable in state.url connects without TLS`);
  if (CERTIFICATE.test(code)) return refused(code, target, `its certificate is not accepted: ${message}`);
  if (code === "ENOENT" && message.includes("open")) return refused(code, target, message);
  if (REFUSED.test(code)) return refused(code, target, message);
  return unavailable(code, target, message);
}

/** Returns the fault for a failed statement. */
export function faultOfStatement(error: unknown, target: PostgresTarget): Fault {
  const code = codeOf(error);
  if (isLoss(error) || UNAVAILABLE.test(code)) return unavailable(code, target, messageOf(error));
  if (REFUSED.test(code)) return refused(code, target, messageOf(error));
  return { kind: "statement", code, message: messageOf(error) };
}

export const refused = (code: string, { name }: PostgresTarget, why: string): Fault => ({
  kind: "refused",
  code,
  message: `the state database in PostgreSQL (${name}) cannot be used: ${why}`,
});

export const unavailable = (code: string, { name }: PostgresTarget, why: string): Fault => ({
  kind: "unavailable",
  code,
  message: `the state database in PostgreSQL (${name}) does not work: ${why}`,
});

/**
 * An AggregateError for several addresses has no message. The library and Node use several messages for a lost
 * connection.
 */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(", ");
  if (error instanceof Error && LOST_WORDS.test(error.message)) return "the connection was lost";
  return errorMessage(error);
}
