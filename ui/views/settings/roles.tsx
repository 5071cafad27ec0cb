import type { Signal } from "@preact/signals";
import { Choice } from "../../components/fields/choice.tsx";
import { session } from "../../core/server/session.ts";
import { t } from "../../core/text/i18n.ts";

/** The roles from the least rights to the most. Each role includes the rights of the roles before it. */
const ROLES = ["viewer", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** Returns the highest of several roles, which includes the rights of all. */
export const highest = (roles: readonly Role[]): Role => ROLES.findLast((role) => roles.includes(role)) ?? "viewer";

/** Returns the roles whose rights the account has. */
export function ownRoles(): readonly Role[] {
  const account = session.value;
  if (account.kind !== "user") return ROLES;
  return ROLES.slice(0, ROLES.indexOf(highest(account.roles)) + 1);
}

/** A choice of a role, with a description of its rights. */
export const RoleField = ({ of, roles = ROLES }: { readonly of: Signal<Role>; readonly roles?: readonly Role[] }) => (
  <Choice
    label={t("settings.role")}
    hint={t(`settings.role.${of.value}.may`)}
    value={of.value}
    values={roles}
    textOf={(role) => t(`settings.role.${role}`)}
    onChoose={(role) => (of.value = role)}
  />
);
