import type { TestServer } from "../server/server.ts";

/** A mass truncation as `/api/v1/truncations` shows it. */
export interface TruncationJson {
  readonly id: number;
  readonly layer: string;
  readonly type: string;
  readonly mode: string;
  readonly parameters: Readonly<Record<string, string>> | null;
  readonly state: string;
  readonly createdBy: string | null;
  readonly undoUntil: string | null;
  readonly endedAt: string | null;
  readonly tiles: number | null;
  readonly bytes: number | null;
  readonly discarded: number | null;
}

export async function truncate(
  server: TestServer,
  request: Readonly<Record<string, unknown>>,
): Promise<TruncationJson> {
  const response = await fetch(`${server.url}/api/v1/truncations`, { method: "POST", body: JSON.stringify(request) });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`POST truncations: ${response.status} ${text}`);
  return JSON.parse(text);
}

export async function truncations(server: TestServer, query = ""): Promise<readonly TruncationJson[]> {
  const answer: { truncations: readonly TruncationJson[] } = JSON.parse(
    await (await fetch(`${server.url}/api/v1/truncations${query}`)).text(),
  );
  return answer.truncations;
}

export async function truncation(server: TestServer, id: number): Promise<TruncationJson> {
  return JSON.parse(await (await fetch(`${server.url}/api/v1/truncations/${id}`)).text());
}

/** Undoes a truncation. Returns the status and the truncation, or the reason why it cannot be undone. */
export async function undo(server: TestServer, id: number) {
  const response = await fetch(`${server.url}/api/v1/truncations/${id}/undo`, { method: "POST" });
  const answer: TruncationJson & { readonly detail?: string } = JSON.parse(await response.text());
  return { status: response.status, answer };
}
