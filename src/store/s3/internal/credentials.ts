import { homedir } from "node:os";
import { join } from "node:path";
import { codeOf } from "../../../lib/error-code.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import type { Machine } from "../../../lib/machine.ts";
import { RemoteError, remoteFailure } from "../../remote/remote-error.ts";
import { type Lent, Renewed } from "../../remote/renewed.ts";
import type { S3Credentials } from "../s3-options.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type AccountOptions = {
  readonly credentials?: S3Credentials;
  readonly profile?: string;
  readonly region: string;
};

/**
 * Returns the keys of an account, in the order of the AWS tools: from the configuration, from a profile that the
 * configuration names, from the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`), by a
 * web identity, from the profile in the files of the AWS tools, by the role of the container, by the role of the
 * machine. Keys of roles are renewed before they expire.
 */
export function accountOf(machine: Machine, options: AccountOptions, environment: Environment): Renewed<S3Credentials> {
  let hasRole = false;
  return new Renewed(machine, async () => {
    const { credentials, profile } = options;
    if (credentials !== undefined) return endless(credentials);
    // A profile that the configuration names overrides the environment, as in the AWS tools.
    if (profile === undefined) {
      const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = environment;
      if (id && secret) return endless(withToken(id, secret, token));
    }
    const found =
      (profile === undefined ? await webIdentity(machine, environment, options) : undefined) ??
      (await profileKeys(machine, environment, options));
    if (found !== undefined) return found;
    let why = "";
    if (profile === undefined) {
      try {
        const { containerRole, instanceRole } = await import("./roles.ts");
        const role = (await containerRole(machine, environment)) ?? (await instanceRole(machine, environment));
        hasRole ||= role !== undefined;
        if (role !== undefined) return role;
      } catch (error) {
        if (hasRole || !isWithoutRole(environment)) throw error;
        why = ` (${error instanceof Error ? error.message : String(error)})`;
      }
    }
    throw noKeys(options, environment, why);
  });
}

const endless = (value: S3Credentials): Lent<S3Credentials> => ({ value, expiresMs: undefined });

/** Returns whether nothing says that a role exists: a machine of EC2 does not say so in the environment. */
const isWithoutRole = (environment: Environment): boolean =>
  !environment["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] && !environment["AWS_CONTAINER_CREDENTIALS_FULL_URI"];

async function webIdentity(
  machine: Machine,
  environment: Environment,
  { region }: AccountOptions,
): Promise<Lent<S3Credentials> | undefined> {
  if (!environment["AWS_WEB_IDENTITY_TOKEN_FILE"] || !environment["AWS_ROLE_ARN"]) return undefined;
  const { webIdentityRole } = await import("./roles.ts");
  return await webIdentityRole(machine, environment, region);
}

/** Returns the keys of a profile, or of the web identity that it names. Undefined if it has neither. */
async function profileKeys(
  machine: Machine,
  environment: Environment,
  options: AccountOptions,
): Promise<Lent<S3Credentials> | undefined> {
  for (const { path, heading } of filesOf(environment, sectionOf(options, environment))) {
    const values = profileSections(await readText(machine.disk, path)).get(heading);
    const [id, secret] = [values?.get("aws_access_key_id"), values?.get("aws_secret_access_key")];
    if (id && secret) return endless(withToken(id, secret, values?.get("aws_session_token")));
    const [file, role] = [values?.get("web_identity_token_file"), values?.get("role_arn")];
    if (!file || !role) continue;
    const session = values?.get("role_session_name");
    const named = { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role, AWS_ROLE_SESSION_NAME: session };
    return await webIdentity(machine, { ...environment, ...named }, options);
  }
  return undefined;
}

const sectionOf = ({ profile }: AccountOptions, environment: Environment): string =>
  profile ?? (environment["AWS_PROFILE"] || "default");

function noKeys(options: AccountOptions, environment: Environment, why: string): RemoteError {
  const section = sectionOf(options, environment);
  const places = filesOf(environment, section)
    .map(({ path }) => path)
    .join(" and ");
  const [variables, roles] =
    options.profile === undefined
      ? [
          "nor the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ",
          `, nor the role of a web identity, of a container or of this machine${why}`,
        ]
      : ["", ""];
  const message = `there are no keys of an account: neither accessKeyId and secretAccessKey of the store (awsAccessKey and awsSecretKey in a geowebcache.xml), ${variables}nor the profile ${JSON.stringify(section)} in ${places}${roles}`;
  return new RemoteError(0, "NoCredentials", { message, concern: "settings" });
}

const withToken = (accessKeyId: string, secretAccessKey: string, token: string | undefined): S3Credentials => ({
  accessKeyId,
  secretAccessKey,
  ...(token ? { sessionToken: token } : {}),
});

/**
 * Returns the files of the AWS tools and their section headings. In the configuration file the heading has the word
 * `profile` before the name, except for the default profile.
 */
function filesOf(environment: Environment, section: string): readonly { path: string; heading: string }[] {
  const directory = join(environment["HOME"] ?? homedir(), ".aws");
  return [
    { path: environment["AWS_SHARED_CREDENTIALS_FILE"] ?? join(directory, "credentials"), heading: section },
    {
      path: environment["AWS_CONFIG_FILE"] ?? join(directory, "config"),
      heading: section === "default" ? section : `profile ${section}`,
    },
  ];
}

async function readText(disk: Disk, path: string): Promise<string> {
  try {
    return await disk.readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw remoteFailure(0, codeOf(error), error);
  }
}

/** Returns the values of an INI file by section and name. */
export function profileSections(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let values = new Map<string, string>();
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim();
    if (line.startsWith("[") && line.endsWith("]")) {
      const name = line.slice(1, -1).trim().split(/\s+/).join(" ");
      values = sections.get(name) ?? new Map<string, string>();
      sections.set(name, values);
    } else if (line !== "" && !line.startsWith("#") && !line.startsWith(";")) {
      const at = line.indexOf("=");
      if (at > 0) values.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
    }
  }
  return sections;
}
