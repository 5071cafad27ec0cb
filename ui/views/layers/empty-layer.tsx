import { Action } from "../../components/action.tsx";
import { undoAction } from "../../components/undo-action.ts";
import type { Doc } from "../../core/api.ts";
import { nuthatchCommand } from "../../core/command.ts";
import { bytes, count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import { figure } from "../../core/stored.ts";

interface EmptyLayerProps {
  readonly layer: string;
  /** The stored tiles of the layer; undefined: not loaded yet. */
  readonly use: Doc<"Usage">["layers"][number] | undefined;
  readonly isSmall?: boolean;
  readonly onDone?: () => void;
}

/** Above this number of tiles the name of the layer must be typed. */
const TYPED_TILES = 1_000_000;

/** Removes all tiles of a layer at once. The toast undoes it for as long as the tiles stay on the disk. */
export function EmptyLayer({ layer, use, isSmall = false, onDone }: EmptyLayerProps) {
  return (
    <Action<Doc<"Truncation">>
      label={t("layers.empty")}
      title={t("layers.empty.of", { layer })}
      kind="danger"
      isSmall={isSmall}
      disabled={use === undefined}
      request={{ method: "POST", path: "truncations", body: { layer } }}
      command={nuthatchCommand("truncate", layer)}
      confirm={{
        title: t("layers.empty.of", { layer }),
        body: (
          <>
            <p>{t("layers.empty.what", { count: use?.tiles ?? 0, size: bytes(use?.bytes ?? 0) })}</p>
            <Counting use={use} />
            <p class="soft">{t("layers.empty.then")}</p>
          </>
        ),
        ...(use !== undefined && use.tiles > TYPED_TILES ? { typed: layer } : {}),
      }}
      done={(made) => ({
        text: t("layers.empty.done", {
          layer,
          tiles: figure(count(made.tiles ?? use?.tiles ?? 0), made.tiles !== null),
        }),
        action: undoAction(made, t("truncations.back", { layer }), onDone),
      })}
      onDone={() => onDone?.()}
    />
  );
}

/** Lets all tiles of a layer expire: they are served until they are rendered anew. */
export function MakeStale({ layer, use }: Pick<EmptyLayerProps, "layer" | "use">) {
  return (
    <Action<Doc<"Truncation">>
      label={t("layers.stale")}
      title={t("layers.stale.of", { layer })}
      request={{ method: "POST", path: "truncations", body: { layer, mode: "soft" } }}
      command={nuthatchCommand("truncate", layer, "--soft")}
      disabled={use === undefined}
      confirm={{
        title: t("layers.stale.of", { layer }),
        body: (
          <>
            <p>{t("layers.stale.what", { count: use?.tiles ?? 0 })}</p>
            <Counting use={use} />
          </>
        ),
      }}
      done={(made) => ({
        text: t("layers.stale.done", { layer }),
        action: undoAction(made, t("truncations.back", { layer })),
      })}
    />
  );
}

/** Says that the number before it is not the whole one. */
const Counting = ({ use }: Pick<EmptyLayerProps, "use">) =>
  use === undefined || use.complete ? null : <p>{t("stillCounting")}</p>;
