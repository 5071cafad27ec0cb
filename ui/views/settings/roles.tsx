import { Choice } from "../../components/choice.tsx";
import { t } from "../../core/i18n.ts";
import { session } from "../../core/session.ts";

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

interface RoleFieldProps {
  readonly value: Role;
  readonly roles?: readonly Role[];
  readonly onChange: (role: Role) => void;
}

/** A choice of a role, with a description of its rights. */
export const RoleField = ({ value, roles = ROLES, onChange }: RoleFieldProps) => (
  <Choice
    label={t("settings.role")}
    hint={t(`settings.role.${value}.may`)}
    value={value}
    values={roles}
    textOf={(role) => t(`settings.role.${role}`)}
    onChoose={onChange}
  />
);
