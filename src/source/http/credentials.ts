import { LRUCache } from "lru-cache";
import type { UpstreamOptions } from "../../layer/source-options.ts";
import { DigestAnswers, type DigestChallenge, digestChallenge, nextNonce } from "../../lib/http/digest.ts";
import { type HttpAnswer, headerOf } from "../../lib/http/http-exchange.ts";

/** The most servers with Digest that are remembered, by origin and credentials. */
const MOST_SERVERS = 256;
/**
 * The most requests in place of one: the first, one with the answer to a challenge, and one when the nonce is again too
 * old.
 */
const MOST_ATTEMPTS = 3;

/** The Digest challenge of one server. All sources of a process with the same credentials share it. */
interface Digest {
  answers: DigestAnswers;
  /** Whether the server has accepted the credentials since it last refused them. */
  isAccepted: boolean;
}

const digests = new LRUCache<string, Digest>({ max: MOST_SERVERS });

/** Sets the Authorization header of requests to the servers of a source. */
export interface Credentials {
  /** The texts that may identify the user, which messages must not show. */
  readonly secrets: readonly string[];
  /**
   * Sends a request with Basic, or with Digest if the server has requested Digest before. Answers a Digest challenge by
   * sending the request again.
   * @param send sends the request with this Authorization header, or without one if undefined
   */
  authorize(
    url: URL,
    method: string,
    send: (authorization: string | undefined) => Promise<HttpAnswer>,
  ): Promise<HttpAnswer>;
}

/** Returns the credentials of a source. Undefined if the source has no credentials. */
export function credentialsOf({
  username,
  password = "",
  authentication,
}: Pick<UpstreamOptions, "username" | "password" | "authentication">): Credentials | undefined {
  if (username === undefined) return undefined;
  const encoded = Buffer.from(`${username}:${password}`).toString("base64");
  const basic = authentication === "digest" ? undefined : `Basic ${encoded}`;
  return {
    secrets: [username, password, encoded],
    async authorize(url, method, send) {
      const key = JSON.stringify([url.origin, username, password]);
      const request = { method, target: `${url.pathname}${url.search}` };
      for (let attempt = 1; ; attempt++) {
        const digest = digests.get(key);
        const answer = await send(digest?.answers.next(request, { username, password }) ?? basic);
        const wanted = update(key, digest, answer);
        if (!wanted || attempt === MOST_ATTEMPTS) return answer;
      }
    },
  };
}

/**
 * Remembers the challenge or nonce in an answer. Returns whether to send the request again.
 * @param sent the digest of the request; undefined if the request had none
 */
function update(key: string, sent: Digest | undefined, answer: HttpAnswer): boolean {
  if (answer.status !== 401) {
    if (sent !== undefined) accept(key, sent, answer);
    return false;
  }
  const challenge = digestChallenge(headerOf(answer, "www-authenticate") ?? "");
  if (challenge === undefined) return false;
  // A server that has lost its nonces may omit `stale`.
  const isNonceRefused = sent === undefined || challenge.isStale || sent.isAccepted;
  remember(key, challenge, challenge.isStale && sent?.isAccepted === true);
  return isNonceRefused;
}

function accept(key: string, sent: Digest, answer: HttpAnswer): void {
  sent.isAccepted = true;
  const nonce = nextNonce(headerOf(answer, "authentication-info") ?? "");
  const { challenge } = sent.answers;
  // The key of a session is computed from its first nonce, so a session keeps this nonce.
  if (nonce === undefined || challenge.isSession || digests.get(key) !== sent) return;
  remember(key, { ...challenge, nonce }, true);
}

const remember = (key: string, challenge: DigestChallenge, isAccepted: boolean): void => {
  digests.set(key, { answers: new DigestAnswers(challenge), isAccepted });
};
