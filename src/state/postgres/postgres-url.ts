import { ok, type Result, refuse } from "../../lib/result.ts";

/** How TLS is used, as libpq means these words. */
export const SSL_MODES = ["disable", "require", "verify-ca", "verify-full"] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** The address of a PostgreSQL database, with the account and the TLS options. */
export interface PostgresTarget {
  /** Names the database in messages, without the account: such as `127.0.0.1:5432/nuthatch`. */
  readonly name: string;
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  /** The user; undefined: `PGUSER`, else the account of the process. */
  readonly user: string | undefined;
  /** The password; undefined: `PGPASSWORD`, else the password file. */
  readonly password: string | undefined;
  readonly database: string;
  readonly sslMode: SslMode;
  /** Files in PEM form. */
  readonly sslRootCert: string | undefined;
  readonly sslCert: string | undefined;
  readonly sslKey: string | undefined;
  /** Settings of the session, such as `-c search_path=tiles`. */
  readonly options: string | undefined;
}

const DEFAULT_PORT = 5432;
const PARAMETERS = ["host", "sslmode", "sslrootcert", "sslcert", "sslkey", "options"] as const;

/**
 * Parses the address of a database. The refusal is a sentence that does not show the address, because it may contain a
 * password.
 */
export function parsePostgresUrl(text: string): Result<PostgresTarget, string> {
  if (!/^postgres(?:ql)?:\/\//.test(text)) return refuse("expected an address that begins with postgres://");
  // The parser of addresses knows no empty host, which stands for a Unix socket.
  const withHost = text.replace(/^(postgres(?:ql)?:\/\/(?:[^/?@]*@)?)(?=[/?]|$)/, "$1localhost");
  if (!URL.canParse(withHost)) return refuse("expected an address such as postgres://account@host:5432/database");
  const url = new URL(withHost);
  const unknown = [...url.searchParams.keys()].find((key) => !PARAMETERS.some((known) => known === key));
  if (unknown !== undefined)
    return refuse(`the parameter ${JSON.stringify(unknown)} is not known: expected ${PARAMETERS.join(", ")}`);
  const parameter = (name: (typeof PARAMETERS)[number]): string | undefined => url.searchParams.get(name) ?? undefined;
  const given = parameter("sslmode");
  const sslRootCert = parameter("sslrootcert");
  const sslMode = SSL_MODES.find((mode) => mode === (given ?? (sslRootCert === undefined ? "disable" : "verify-full")));
  if (sslMode === undefined) return refuse(`sslmode: expected ${SSL_MODES.join(", ")}, got ${JSON.stringify(given)}`);
  if (sslMode === "verify-ca" && sslRootCert === undefined)
    return refuse("sslmode=verify-ca needs sslrootcert, the file of the authority's certificate");
  const database = decoded(url.pathname.slice(1));
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (database === undefined || user === undefined || password === undefined)
    return refuse("a % in an address must be written as %25");
  if (database === "") return refuse("expected the name of a database at the end of the address");
  const host = parameter("host") ?? url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = url.port === "" ? DEFAULT_PORT : Number(url.port);
  return ok({
    name: `${host.includes(":") ? `[${host}]` : host}:${port}/${database}`,
    host,
    port,
    user: user === "" ? undefined : user,
    password: password === "" ? undefined : password,
    database,
    sslMode,
    sslRootCert,
    sslCert: parameter("sslcert"),
    sslKey: parameter("sslkey"),
    options: parameter("options"),
  });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
