import * as z from "zod";
import { codeOf } from "../../../lib/error-code.ts";
import { isLoopback } from "../../../lib/http/loopback.ts";
import type { Machine } from "../../../lib/machine.ts";
import { firstAt, parseXml } from "../../../lib/text/xml-element.ts";
import { LATE, unlessLate } from "../../../lib/time/late.ts";
import { RemoteError } from "../../remote/remote-error.ts";
import type { Lent } from "../../remote/renewed.ts";
import { NO_ANSWER, Transport } from "../../remote/transport.ts";
import type { S3Credentials } from "../s3-options.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type RoleMachine = Pick<Machine, "clock" | "disk">;

/** Obtains the keys of a role. Undefined if this machine has no such role. @throws RemoteError */
type RoleSource = (machine: RoleMachine, environment: Environment) => Promise<Lent<S3Credentials> | undefined>;

/** The time limit of a request to another machine, and of a request to a service on the machine's own link. */
const STS_MS = 5_000;
const LINK_MS = 2_000;
/** A service on the link does not answer while it starts, or while it is asked too often. */
const LINK_TRIES = 2;
/** The longest answer and the longest token, in characters. */
const LONGEST = 64 * 1024;
/** The shortest loan. A metadata service that cannot renew keys gives expired ones, which AWS then prolongs. */
const SHORTEST_MS = 5 * 60_000;
const TOKEN_SECONDS = 21_600;

/** The address of the containers of ECS, and the other hosts to which an authorization may go without TLS. */
const ECS = "http://169.254.170.2";
const LINK_HOSTS: ReadonlySet<string> = new Set(["169.254.170.2", "169.254.170.23", "fd00:ec2::23"]);
const INSTANCE = { ipv4: "http://169.254.169.254", ipv6: "http://[fd00:ec2::254]" } as const;

interface Question {
  /** What is asked for keys, for messages. */
  readonly from: string;
  readonly url: URL;
  readonly method: "GET" | "PUT" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isOnLink: boolean;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const unavailable = (from: string, why: string, cause?: unknown): RemoteError =>
  new RemoteError(0, "RoleUnavailable", {
    cause,
    message: `the keys of the role cannot be obtained from ${from}: ${why}`,
  });
/** The operator must correct the role. @param code without any part of a token or key */
const refused = (from: string, status: number, code: string): RemoteError =>
  new RemoteError(status, "RoleRefused", {
    message: `the keys of the role are refused by ${from}: ${code}`,
    concern: "settings",
  });

async function ask({ clock, disk }: RoleMachine, question: Question): Promise<Answer> {
  const { from, url, method, headers = {}, body, isOnLink } = question;
  const transport = new Transport({
    disk,
    origin: url.origin,
    connections: 1,
    connectTimeoutMs: isOnLink ? LINK_MS : STS_MS,
    ...(isOnLink ? { proxy: "none" } : {}),
  });
  const over = new AbortController();
  try {
    const signed = { path: `${url.pathname}${url.search}`, headers };
    const sent = transport.send(method, signed, body === undefined ? undefined : Buffer.from(body), over.signal);
    const answer = await unlessLate(clock, sent, isOnLink ? LINK_MS : STS_MS);
    if (answer === LATE) throw unavailable(from, NO_ANSWER);
    if (answer.body.byteLength > LONGEST) throw unavailable(from, "the answer is too long");
    return { status: answer.status, text: Buffer.from(answer.body).toString("utf8") };
  } catch (error) {
    if (error instanceof RemoteError && error.code === "RoleUnavailable") throw error;
    throw unavailable(from, error instanceof RemoteError ? error.code : codeOf(error), error);
  } finally {
    over.abort();
    await transport[Symbol.asyncDispose]();
  }
}

async function askLink(machine: RoleMachine, question: Omit<Question, "isOnLink">): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      const answer = await ask(machine, { ...question, isOnLink: true });
      if (answer.status < 500 || tries === LINK_TRIES) return answer;
    } catch (error) {
      if (tries === LINK_TRIES) throw error;
    }
  }
}

/** Returns a text that a header may have. @throws RemoteError */
function headerText(from: string, text: string): string {
  const plain = text.trim();
  if (plain === "" || plain.length > LONGEST || !/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(plain))
    throw unavailable(from, "its token is no token");
  return plain;
}

/** The document with keys of the containers' and the machines' metadata service. */
const KeysDocument = z.object({
  AccessKeyId: z.string().min(1),
  SecretAccessKey: z.string().min(1),
  Token: z.string().min(1).optional(),
  Expiration: z.string().optional(),
});

function keysOf(from: string, { status, text }: Answer, nowMs: number): Lent<S3Credentials> {
  if (status === 429 || status >= 500) throw unavailable(from, `status ${status}`);
  if (status !== 200) throw refused(from, status, `status ${status}`);
  let parsed: ReturnType<typeof KeysDocument.safeParse> | undefined;
  try {
    parsed = KeysDocument.safeParse(JSON.parse(text));
  } catch {
    // The message of JSON.parse has a part of the text.
  }
  if (parsed?.success !== true) throw unavailable(from, "the answer has no keys");
  const { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: end } = parsed.data;
  return lent(id, secret, token, end, nowMs);
}

function lent(
  accessKeyId: string,
  secretAccessKey: string,
  sessionToken: string | undefined,
  end: string | undefined,
  nowMs: number,
): Lent<S3Credentials> {
  const endMs = end === undefined ? undefined : Date.parse(end);
  return {
    value: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
    expiresMs: endMs === undefined ? undefined : Math.max(Number.isNaN(endMs) ? 0 : endMs, nowMs + SHORTEST_MS),
  };
}

async function tokenIn(machine: RoleMachine, from: string, file: string): Promise<string> {
  try {
    return headerText(from, await machine.disk.readFile(file, "utf8"));
  } catch (error) {
    if (error instanceof RemoteError) throw error;
    throw unavailable(from, `its token cannot be read: ${codeOf(error)}`, error);
  }
}

/** The role of a container: ECS, and the Pod Identity of EKS. */
export const containerRole: RoleSource = async (machine, environment) => {
  const from = "the container's service";
  const {
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: full,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: plain,
  } = environment;
  const address = relative ? `${ECS}${relative}` : full;
  if (!address) return undefined;
  if (!URL.canParse(address)) throw refused(from, 400, "its address is no address");
  const url = new URL(address);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && (isLoopback(host) || LINK_HOSTS.has(host))))
    throw refused(from, 400, "its address is neither https:// nor on this machine");
  // The file is read for each renewal, because the token in it changes.
  const token = file ? await tokenIn(machine, from, file) : plain && headerText(from, plain);
  const headers = { accept: "application/json", ...(token ? { authorization: token } : {}) };
  return keysOf(from, await askLink(machine, { from, url, method: "GET", headers }), machine.clock.now());
};

/** The role of a machine of EC2, by version 2 of the metadata service. */
export const instanceRole: RoleSource = async (machine, environment) => {
  if (environment["AWS_EC2_METADATA_DISABLED"]?.toLowerCase() === "true") return undefined;
  const from = "the machine's metadata service";
  const mode = environment["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]?.toLowerCase() === "ipv6" ? "ipv6" : "ipv4";
  const root = environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] || INSTANCE[mode];
  if (!URL.canParse(root)) throw refused(from, 400, "its address is no address");
  const at = (path: string): URL => new URL(path, root);
  const ttl = { "x-aws-ec2-metadata-token-ttl-seconds": String(TOKEN_SECONDS) };
  const token = await askLink(machine, { from, url: at("/latest/api/token"), method: "PUT", headers: ttl });
  if (token.status !== 200) throw unavailable(from, `status ${token.status}`);
  const headers = { "x-aws-ec2-metadata-token": headerText(from, token.text) };
  const roles = "/latest/meta-data/iam/security-credentials/";
  const listed = await askLink(machine, { from, url: at(roles), method: "GET", headers });
  if (listed.status === 404) return undefined;
  if (listed.status !== 200) throw unavailable(from, `status ${listed.status}`);
  const role = listed.text.split("\n", 1)[0]?.trim() ?? "";
  if (role === "") return undefined;
  const url = at(`${roles}${encodeURIComponent(role)}`);
  return keysOf(from, await askLink(machine, { from, url, method: "GET", headers }), machine.clock.now());
};

/** Errors of STS that may pass. */
const PASSING: ReadonlySet<string> = new Set(["IDPCommunicationError", "Throttling", "ThrottlingException"]);

/** The role of a web identity: IRSA of EKS, and of other issuers of OpenID Connect. */
export async function webIdentityRole(
  machine: RoleMachine,
  environment: Environment,
  region: string,
): Promise<Lent<S3Credentials> | undefined> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: file, AWS_ROLE_ARN: role, AWS_ROLE_SESSION_NAME: session } = environment;
  if (!file || !role) return undefined;
  const from = "STS";
  const place = environment["AWS_REGION"] || environment["AWS_DEFAULT_REGION"] || region;
  const ending = place.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const address = environment["AWS_ENDPOINT_URL_STS"] || `https://sts.${place}.${ending}`;
  if (!URL.canParse(address)) throw refused(from, 400, "its address is no address");
  const body = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: role,
    RoleSessionName: session || "nuthatch",
    WebIdentityToken: await tokenIn(machine, from, file),
  }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded", accept: "application/xml" };
  const question: Question = { from, url: new URL(address), method: "POST", headers, body, isOnLink: false };
  const { status, text } = await ask(machine, question);
  const root = parseXml(text);
  const at = (...path: readonly string[]): string => (root.ok ? (firstAt(root.value, ...path)?.text.trim() ?? "") : "");
  if (status !== 200) {
    const code = /^[\w.]{1,64}$/.exec(at("Error", "Code"))?.[0] ?? `status ${status}`;
    if (status === 429 || status >= 500 || PASSING.has(code)) throw unavailable(from, code);
    throw refused(from, status, code);
  }
  const keys = (name: string): string => at("AssumeRoleWithWebIdentityResult", "Credentials", name);
  const [id, secret, token] = [keys("AccessKeyId"), keys("SecretAccessKey"), keys("SessionToken")];
  if (id === "" || secret === "" || token === "") throw unavailable(from, "the answer has no keys");
  return lent(id, secret, token, keys("Expiration"), machine.clock.now());
}
