import type { Disk } from "../../lib/file/disk.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import { findService, type Service } from "./service-file.ts";

/** The modes of TLS, with libpq's meaning. */
export const SSL_MODES = ["disable", "require", "verify-ca", "verify-full"] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** The address of a PostgreSQL database, with the account and the TLS options. */
export interface PostgresTarget {
  /** The name of the database in messages, without the account, such as `127.0.0.1:5432/nuthatch`. */
  readonly name: string;
  /** A host name, an IP address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  /** The user. Undefined means `PGUSER`, else the account of the process. */
  readonly user: string | undefined;
  /** The password. Undefined means `PGPASSWORD`, else the password file. */
  readonly password: string | undefined;
  readonly database: string;
  readonly sslMode: SslMode;
  /** Files in PEM form. Undefined: the option was not given. */
  readonly sslRootCert: string | undefined;
  readonly sslCert: string | undefined;
  readonly sslKey: string | undefined;
  /** Settings of the session, such as `-c search_path=tiles`. Undefined: none were given. */
  readonly options: string | undefined;
}

const DEFAULT_PORT = 5432;
const PARAMETERS = ["host", "sslmode", "sslrootcert", "sslcert", "sslkey", "options", "service"] as const;
/** The keys of a service that are not parameters of an address. */
const SERVICE_KEYS = [
  "host",
  "port",
  "dbname",
  "user",
  "password",
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "options",
];

/**
 * Parses the address of a database. A service (`?service=NAME`, else `PGSERVICE`) supplies the parts that the address
 * omits, as in libpq. The refusal is a sentence that does not show the address, because it may contain a password.
 */
export function parsePostgresUrl(
  text: string,
  disk: Pick<Disk, "readFileSync">,
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): Result<PostgresTarget, string> {
  if (!/^postgres(?:ql)?:\/\//.test(text)) return refuse("expected an address that begins with postgres://");
  // `URL` does not accept an empty host, which stands for a Unix socket.
  const withHost = text.replace(/^(postgres(?:ql)?:\/\/(?:[^/?@]*@)?)(?=[/?]|$)/, "$1localhost");
  if (!URL.canParse(withHost)) return refuse("expected an address such as postgres://account@host:5432/database");
  const url = new URL(withHost);
  const unknown = [...url.searchParams.keys()].find((key) => !PARAMETERS.some((known) => known === key));
  if (unknown !== undefined)
    return refuse(`the parameter ${JSON.stringify(unknown)} is not known: expected ${PARAMETERS.join(", ")}`);
  const service = serviceOf(url.searchParams.get("service") ?? env["PGSERVICE"], disk, env);
  if (!service.ok) return service;
  const parameter = (name: string): string | undefined => url.searchParams.get(name) ?? service.value.get(name);
  const tls = tlsOf(parameter);
  if (!tls.ok) return tls;
  const written = [url.pathname.slice(1), url.username, url.password].map(decoded);
  if (written.includes(undefined)) return refuse("a % in an address must be written as %25");
  const [database, user, password] = written.map(
    (part, n) => part || service.value.get(["dbname", "user", "password"][n] ?? ""),
  );
  if (database === undefined || database === "")
    return refuse("expected the name of a database at the end of the address");
  const hasHost = url.searchParams.has("host") || withHost === text;
  const own = url.searchParams.get("host") ?? url.hostname.replace(/^\[(.*)\]$/, "$1");
  const host = hasHost ? own : (service.value.get("host") ?? own);
  const port = url.port === "" ? Number(service.value.get("port") ?? DEFAULT_PORT) : Number(url.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    return refuse("the port of the service: expected 1 to 65535");
  return ok({
    name: `${host.includes(":") ? `[${host}]` : host}:${port}/${database}`,
    host,
    port,
    user: user === "" ? undefined : user,
    password: password === "" ? undefined : password,
    database,
    ...tls.value,
    options: parameter("options"),
  });
}

/** Returns the values of a service; an empty map if no service is named. */
function serviceOf(
  name: string | undefined,
  disk: Pick<Disk, "readFileSync">,
  env: Readonly<NodeJS.ProcessEnv>,
): Result<Service, string> {
  if (name === undefined || name === "") return ok(new Map());
  const service = findService(name, disk, env);
  if (!service.ok) return service;
  const unknown = [...service.value.keys()].find((key) => !SERVICE_KEYS.includes(key));
  return unknown === undefined
    ? service
    : refuse(
        `the key ${JSON.stringify(unknown)} of the service ${JSON.stringify(name)} is not known: expected ${SERVICE_KEYS.join(", ")}`,
      );
}

type Tls = Pick<PostgresTarget, "sslMode" | "sslRootCert" | "sslCert" | "sslKey">;

function tlsOf(parameter: (name: string) => string | undefined): Result<Tls, string> {
  const given = parameter("sslmode");
  const sslRootCert = parameter("sslrootcert");
  const sslMode = SSL_MODES.find((mode) => mode === (given ?? (sslRootCert === undefined ? "disable" : "verify-full")));
  if (sslMode === undefined) return refuse(`sslmode: expected ${SSL_MODES.join(", ")}, got ${JSON.stringify(given)}`);
  if (sslMode === "verify-ca" && sslRootCert === undefined)
    return refuse("sslmode=verify-ca needs sslrootcert, the file of the authority's certificate");
  return ok({ sslMode, sslRootCert, sslCert: parameter("sslcert"), sslKey: parameter("sslkey") });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
