import { homedir } from "node:os";
import { join } from "node:path";
import { codeOf } from "../../../lib/error-code.ts";
import type { Disk } from "../../../lib/file/disk.ts";
import { S3Error, s3Failure } from "../s3-error.ts";
import type { S3Credentials } from "../s3-options.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the keys of an account, from the configuration, else from the environment (`AWS_ACCESS_KEY_ID`,
 * `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`), else from a profile in the files of the AWS tools.
 * @throws S3Error when no keys are found
 */
export async function credentialsOf(
  disk: Disk,
  { credentials, profile }: { readonly credentials?: S3Credentials; readonly profile?: string },
  environment: Environment,
): Promise<S3Credentials> {
  if (credentials !== undefined) return credentials;
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = environment;
  // A profile that the configuration names overrides the environment, as in the AWS tools.
  if (profile === undefined && id && secret) return withToken(id, secret, token);
  const section = profile ?? environment["AWS_PROFILE"] ?? "default";
  const files = filesOf(environment, section);
  for (const { path, heading } of files) {
    const values = profileSections(await readText(disk, path)).get(heading);
    const [profileId, profileSecret] = [values?.get("aws_access_key_id"), values?.get("aws_secret_access_key")];
    if (profileId && profileSecret) return withToken(profileId, profileSecret, values?.get("aws_session_token"));
  }
  const variables = profile === undefined ? "nor the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " : "";
  const places = files.map(({ path }) => path).join(" and ");
  throw new S3Error(
    0,
    "NoCredentials",
    undefined,
    `there are no keys of an account: neither accessKeyId and secretAccessKey of the store (awsAccessKey and awsSecretKey in a geowebcache.xml), ${variables}nor the profile ${JSON.stringify(section)} in ${places}; roles of a machine, a container or a web identity are not supported`,
  );
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
    throw s3Failure(0, codeOf(error), error);
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
