import { LIMITS, routes, type Role } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { useMay, usePlace } from '../../../data/place.ts'
import { Choice } from '../../../parts/choice.tsx'
import { listIn } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, Select, TextArea } from '../../../ui/field.tsx'
import { EXPIRIES, type KeyDraft } from './draft.ts'

type Props = { readonly draft: KeyDraft; readonly change: (part: Partial<KeyDraft>) => void }
const RANK: readonly Role[] = ['viewer', 'developer', 'admin', 'owner']
const ROLES = [
  { id: 'viewer', label: 'Viewer', text: 'Can list and read project resources.' },
  { id: 'developer', label: 'Developer', text: 'Can read, create, change and delete project resources.' },
  {
    id: 'admin',
    label: 'Admin',
    text: 'Can manage project resources, members and network access, and read the audit log. Cannot manage billing.',
  },
] as const

/** The name of a key, its role and reach, its end, and the addresses that may use it. */
export function KeyFields({ draft, change }: Props): ReactElement {
  const { me, projects } = usePlace()
  const { name, role, projectId, expiry } = draft
  return (
    <>
      <Field
        label="Name"
        required
        maxLength={LIMITS.nameCharsMax}
        placeholder="Shop CI"
        value={name}
        onChange={({ target }) => change({ name: target.value })}
        hint="Name the program that uses this key. Create a separate key for each program, so that you can revoke them separately."
      />
      <Choice
        label="Role"
        of={ROLES.filter(({ id }) => RANK.indexOf(id) <= RANK.indexOf(me.role))}
        at={role}
        go={(next) => change({ role: next })}
        hint={`${ROLES.find(({ id }) => id === role)?.text ?? ''} The key acts as you, and never has more permissions than your own role.`}
      />
      <Select
        label="Access"
        value={projectId ?? ''}
        onChange={({ target }) => change({ projectId: target.value === '' ? null : target.value })}
        hint={
          projectId === null
            ? 'All projects in the workspace, including future ones.'
            : 'Only this project. The key cannot read the audit log, the members or other projects.'
        }
      >
        <option value="">Whole workspace</option>
        {projects.map(({ id, name: label }) => (
          <option key={id} value={id}>
            {label}
          </option>
        ))}
      </Select>
      <Choice
        label="Expires after"
        of={EXPIRIES}
        at={expiry}
        go={(next) => change({ expiry: next })}
        hint={
          expiry === 'never'
            ? 'The key works until someone revokes it.'
            : 'After that, requests with this key get 401. You cannot extend a key. Create a new one instead.'
        }
      />
      <Allowlist draft={draft} change={change} />
    </>
  )
}

/** The addresses that may use the key, with the address of the person. */
function Allowlist({ draft: { addresses }, change }: Props): ReactElement {
  const may = useMay(routes.network.get)
  const mine = useAsk(['network'], (client, signal) => client.network.get(undefined, { signal }), { enabled: may }).data
    ?.network.your_address
  const listed = listIn(addresses)
  return (
    <TextArea
      label="Allowed addresses"
      rows={2}
      value={addresses}
      onChange={({ target }) => change({ addresses: target.value })}
      hint={
        <>
          IPv4 and IPv6 addresses and CIDR ranges, such as <code className="mono">203.0.113.0/24</code>, one per line,
          at most {LIMITS.ipAllowlistEntriesMax}. Leave empty to allow any address.
          {mine !== undefined && mine !== null && (
            <span className="mt-1 flex flex-wrap items-center gap-2">
              Your address is <code className="mono">{mine}</code>
              {!listed.includes(mine) && (
                <Button onClick={() => change({ addresses: [...listed, mine].join('\n') })}>Add my address</Button>
              )}
            </span>
          )}
        </>
      }
    />
  )
}
