import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { DigestAnswers, digestChallenge, nextNonce } from "./digest.ts";

const GET = { method: "GET", target: "/dir/index.html" };

function answer(header: string, cnonce: string, username: string, password: string, request = GET): string {
  const challenge = digestChallenge(header);
  if (challenge === undefined) throw new Error("no challenge");
  return new DigestAnswers(challenge, cnonce).next(request, { username, password });
}

const RFC_7616 = `realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`;
const CNONCE_7616 = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";

describe("the examples of the RFCs", () => {
  test.each([
    ["MD5", "8ca523f5e9506fed4657c9700eebdbec"],
    ["SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"],
  ])("RFC 7616, 3.9.1 with %s", (algorithm, response) => {
    const header = `Digest ${RFC_7616}, algorithm=${algorithm}`;
    const given = answer(header, CNONCE_7616, "Mufasa", "Circle of Life");
    expect(given).toBe(
      `Digest username="Mufasa", realm="http-auth@example.org", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", uri="/dir/index.html", response="${response}", algorithm=${algorithm}, opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", cnonce="${CNONCE_7616}", qop=auth, nc=00000001`,
    );
  });

  test("RFC 2617, 3.5, whose challenge has no algorithm", () => {
    const header = `Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"`;
    const given = answer(header, "0a4f113b", "Mufasa", "Circle Of Life");
    expect(given).toContain('response="6629fae49393a05397450978507c4ef1"');
    expect(given).not.toContain("algorithm");
  });

  test("RFC 2069 (erratum 749), whose answer has neither counter nor cnonce", () => {
    const header = `Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"`;
    const given = answer(header, "unused", "Mufasa", "CircleOfLife");
    expect(given).toContain('response="1949323746fe6a43ef61f9606e7febea"');
    expect(given).not.toMatch(/qop|nc=|cnonce/);
  });

  test("the challenge of RFC 7616, 3.9.2, to a name beyond ASCII", () => {
    const nonce = "5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK";
    const header = `Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="${nonce}", charset=UTF-8, userhash=true`;
    const given = answer(header, "c", "Jäsøn Doe", "Secret, or not?");
    const hash = (text: string) => createHash("sha512-256").update(text).digest("hex");
    const [user, request] = [hash("Jäsøn Doe:api@example.org:Secret, or not?"), hash("GET:/dir/index.html")];
    expect(given).toContain("username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, ");
    expect(given).toContain(`response="${hash(`${user}:${nonce}:00000001:c:auth:${request}`)}"`);
  });
});

test("requests with one nonce are counted", () => {
  const challenge = digestChallenge('Digest realm="r", nonce="n", qop="auth"');
  if (challenge === undefined) throw new Error("no challenge");
  const answers = new DigestAnswers(challenge);
  const count = () => /nc=\w+/.exec(answers.next(GET, { username: "u", password: "p" }))?.[0];
  expect(Array.from({ length: 17 }, count).filter((_, i) => i % 8 === 0)).toEqual([
    "nc=00000001",
    "nc=00000009",
    "nc=00000011",
  ]);
});

test.each([
  ['Basic realm="a, Digest nonce=\\"no\\"", Digest realm="b", nonce=n', "n MD5"],
  ['Negotiate, NTLM TlRMTVNTUAACAAAA==, Digest nonce="n", realm="r"', "n MD5"],
  ['DIGEST REALM="r",Nonce = "n" ,ALGORITHM="sha-256-SESS",, QOP=auth', "n sha-256-SESS"],
  ['Digest realm="r", nonce="a", algorithm=MD5, Digest realm="r", nonce="b", algorithm=SHA-256', "b SHA-256"],
  ['Digest realm="r", nonce="a", algorithm=MD5, Digest realm="r", nonce="b", algorithm=TIGER', "a MD5"],
])("of the challenges %s the strongest of Digest that can be met is taken", (header, taken) => {
  const challenge = digestChallenge(header);
  expect(`${challenge?.nonce} ${challenge?.algorithm ?? "MD5"}`).toBe(taken);
});

test.each([
  "",
  'Basic realm="r"',
  'Digest realm="r"',
  'Digest realm="r", nonce="n", qop="auth-int"',
  'Digest realm="r", nonce="n", algorithm=TIGER',
  'Digest realm="r", nonce="n',
  '"Digest", nonce="n"',
])("%j has no challenge of Digest that can be met", (header) => {
  expect(digestChallenge(header)).toBeUndefined();
});

test("quotes in a realm and in a name are escaped in the answer, and hashed without the escapes", () => {
  const plain = answer('Digest realm="a b", nonce="n"', "c", "u", "p");
  const escaped = answer('Digest realm="a \\b", nonce="n"', "c", "u", "p");
  expect(escaped).toBe(plain);
  expect(answer('Digest realm="a \\"b\\\\", nonce="n"', "c", 'u"', "p")).toContain(
    'username="u\\"", realm="a \\"b\\\\"',
  );
});

test("a name beyond ASCII is sent in UTF-8 to a server that does not read the longer form", () => {
  const given = answer('Digest realm="r", nonce="n"', "c", "jörg", "p");
  expect(Buffer.from(given, "latin1").toString()).toContain('username="jörg"');
  expect(answer('Digest realm="r", nonce="n"', "c", "a\r\nX: b", "p")).toContain("username*=UTF-8''a%0D%0AX%3A%20b");
});

test("an Authentication-Info may have the next nonce", () => {
  expect(nextNonce('rspauth="6629", cnonce="0a", nc=00000001, qop=auth, nextnonce="n2"')).toBe("n2");
  expect(nextNonce("")).toBeUndefined();
});
