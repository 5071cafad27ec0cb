import { stat } from "node:fs/promises";
import type { ArchiveSourceOptions } from "../../layer/source-options.ts";
import { ok, type Result, refuse } from "../../lib/result.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { stampOf } from "../local-file.ts";
import { SourceError } from "../source.ts";
import { type Archive, type ArchiveFacts, unreadableFile } from "./archive.ts";
import { openMbtiles } from "./mbtiles.ts";
import { openPmtiles } from "./pmtiles.ts";

/** @throws SourceError */
export function openArchive(
  clock: Clock,
  { type, file }: Pick<ArchiveSourceOptions, "type" | "file">,
): Promise<Archive> {
  switch (type) {
    case "mbtiles":
      return openMbtiles(clock, file);
    case "pmtiles":
      return openPmtiles(file);
  }
}

/** The file at a path now. */
export interface CurrentFile {
  readonly stamp: string;
  readonly modifiedMs: number;
}

/** Returns the file at a path. Undefined if no file can be found there. */
export const currentFile = (file: string): Promise<CurrentFile | undefined> =>
  stat(file).then(
    (status) => ({ stamp: stampOf(status), modifiedMs: status.mtimeMs }),
    () => undefined,
  );

/** The current metadata and stamp of an archive. */
export interface ArchiveReport {
  readonly stamp: string;
  readonly facts: ArchiveFacts;
}

/** Returns the metadata of an archive, or why the metadata cannot be read. */
export async function inspectArchive(
  clock: Clock,
  at: Pick<ArchiveSourceOptions, "type" | "file">,
): Promise<Result<ArchiveReport, string>> {
  try {
    const status = await stat(at.file).catch((error: unknown) => {
      throw unreadableFile(error);
    });
    const archive = await openArchive(clock, at);
    try {
      return ok({ stamp: stampOf(status), facts: await archive.facts() });
    } finally {
      await archive[Symbol.asyncDispose]();
    }
  } catch (error) {
    if (error instanceof SourceError) return refuse(error.message);
    throw error;
  }
}
