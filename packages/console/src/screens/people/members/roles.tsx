import { ROLES, type Role } from '@postroad/contract'
import { useId, type ReactElement } from 'react'

/** The permissions of each role, in one sentence. */
export const ROLE_TEXTS: Readonly<Record<Role, string>> = {
  viewer: 'Can read everything in the workspace except the audit log and the members.',
  developer: 'Can do what a viewer can, and create, change and delete project resources and replay events.',
  admin:
    'Can do what a developer can, manage members, projects, other members’ API keys and network access, and read the audit log.',
  owner:
    'Can do what an admin can, and manage billing and single sign-on, transfer ownership, and close the workspace.',
}

type Props = {
  readonly at: Role
  readonly go: (role: Role) => void
  /** The highest role that the person may give. */
  readonly upTo: Role
  readonly roles?: readonly Role[]
  readonly disabled?: boolean
}

/** A choice of a role, each with its permissions. A role above that of the person is dimmed. */
export function RoleChoice({ at, go, upTo, roles = ROLES, disabled = false }: Props): ReactElement {
  const name = useId()
  const highest = ROLES.indexOf(upTo)
  return (
    <fieldset className="mb-3.5" disabled={disabled}>
      <legend className="mb-1 font-control">Role</legend>
      {roles.map((role) => {
        const isAbove = ROLES.indexOf(role) > highest
        return (
          <label
            key={role}
            className="flex min-h-7 items-start gap-2 py-1"
            title={isAbove ? 'This is above your role.' : undefined}
          >
            <input
              type="radio"
              name={name}
              value={role}
              checked={role === at}
              disabled={isAbove}
              onChange={() => go(role)}
              className="mt-0.5 size-4 flex-none accent-(--accent)"
            />
            <span>
              <span className="font-control capitalize">{role}</span>{' '}
              <span className="block text-ink-3">
                {ROLE_TEXTS[role]}
                {isAbove && ' Above your role.'}
              </span>
            </span>
          </label>
        )
      })}
    </fieldset>
  )
}
