import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import type { TlsOptions } from "../../../layer/source-options.ts";
import { defined } from "../../../lib/defined.ts";
import { readSmallFile } from "../../../lib/file/small-file.ts";
import type { UpstreamDocument } from "../../fields/source-schema.ts";
import type { Path, Problems } from "../read/problems.ts";

type TlsDocument = Pick<UpstreamDocument, "ca" | "cert" | "key">;

/** The most bytes of a file. A bundle of all public certificate authorities has a fifth of this. */
const MOST_BYTES = 2 ** 20;

const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g;

/**
 * Builds the TLS options of a source. Checks the files now, because a renderer would report a bad file only with the
 * first tile.
 */
export function buildTls({ ca, cert, key }: TlsDocument, path: Path, problems: Problems): TlsOptions | undefined {
  if (ca === undefined && cert === undefined && key === undefined) return undefined;
  const read = (name: keyof TlsDocument, file: string | undefined): string | undefined => {
    if (file === undefined) return undefined;
    const text = readSmallFile(problems.fileAt([...path, name], file), MOST_BYTES);
    if (text.ok) return text.value;
    problems.add([...path, name], `${JSON.stringify(file)} ${text.error}`);
    return undefined;
  };
  const absolute = (name: keyof TlsDocument, file: string | undefined) =>
    file && problems.fileAt([...path, name], file);
  const texts = [read("ca", ca), read("cert", cert), read("key", key)] as const;
  const [caText, certText, keyText] = texts;
  if (caText !== undefined && certificates(caText).length === 0)
    problems.add([...path, "ca"], "expected a file of certificates in PEM form");
  const [own] = certText === undefined ? [] : certificates(certText);
  if (certText !== undefined && own === undefined)
    problems.add([...path, "cert"], "expected a file with a certificate in PEM form");
  const problem = keyText === undefined ? undefined : keyProblem(keyText, own);
  if (problem !== undefined) problems.add([...path, "key"], problem);
  const hash = createHash("sha256");
  for (const text of texts) hash.update(text ?? "").update("\0");
  return {
    ...defined({ ca: absolute("ca", ca), cert: absolute("cert", cert), key: absolute("key", key) }),
    stamp: hash.digest("hex").slice(0, 16),
  };
}

/** Returns the certificates in a text. Empty if a certificate cannot be parsed. */
function certificates(text: string): readonly X509Certificate[] {
  try {
    return (text.match(CERTIFICATE) ?? []).map((pem) => new X509Certificate(pem));
  } catch {
    return [];
  }
}

function keyProblem(text: string, certificate: X509Certificate | undefined): string | undefined {
  try {
    const isOwn = certificate?.checkPrivateKey(createPrivateKey(text)) ?? true;
    return isOwn ? undefined : "expected the key of the certificate in cert";
  } catch {
    return "expected a private key in PEM form, not encrypted";
  }
}
