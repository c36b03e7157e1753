import { useId, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { Ago } from '../../../ui/ago.tsx'
import { Facts, Part } from '../../../parts/detail.tsx'
import { Button } from '../../../ui/button.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { endOf, isAbove, labelOf, LADDER, refusalText, type Agent, type Scope } from './agents.ts'

/** The rung of an agent, its last refusal, and the facts of its connection. */
export function AccessTab({ agent }: { readonly agent: Agent }): ReactElement {
  const change = useSetScope(agent)
  const end = endOf(agent)
  return (
    <>
      {end !== undefined && (
        <p role="status" className="border-b border-line bg-press px-5 py-3 text-ink-2">
          {end}
        </p>
      )}
      <LastRefusal agent={agent} widen={change.set} isBusy={change.isBusy} />
      <Part
        title="Access level"
        text="A change applies from the agent’s next request. The agent does not have to sign in again."
      >
        <Ladder agent={agent} set={change.set} isBusy={change.isBusy} />
        <RefusedLine error={change.error} />
        <p className="mt-3 max-w-[68ch] text-data text-ink-3">
          An agent can never access billing, members, invites, API keys, connected agents, or destination signing
          secrets.
        </p>
      </Part>
      <Part title="Connection">
        <Facts of={factsOf(agent)} />
      </Part>
    </>
  )
}

function useSetScope({ id, name }: Agent) {
  const toast = useToast()
  const change = useChange(['connectedAgents'], async (client, scope: Scope) => {
    await client.connectedAgents.update({ id, scope })
    toast({ text: `${name}: ${labelOf(scope)}, starting with its next request.` })
  })
  return { set: (scope: Scope) => change.mutate(scope), isBusy: change.isPending, error: change.error }
}

type Setting = { readonly agent: Agent; readonly isBusy: boolean }

function Ladder({ agent, set, isBusy }: Setting & { readonly set: (scope: Scope) => void }): ReactElement {
  const group = useId()
  const { role } = agent.connected_by
  const reached = LADDER.findLast((rung) => roleIncludes(role, rung.role))
  return (
    <>
      <fieldset
        disabled={isBusy || agent.status === 'revoked'}
        className="overflow-hidden rounded-field border border-line-2"
      >
        <legend className="sr-only">Access for {agent.name}</legend>
        {LADDER.map(({ scope, label, text }) => {
          // Only the person who connected the agent can widen its access.
          const isClosed = !agent.yours && isAbove(scope, agent.scope)
          return (
            <label
              key={scope}
              title={isClosed ? 'Only the person who connected the agent can widen its access' : undefined}
              className="grid grid-cols-[16px_minmax(0,1fr)] gap-x-3 border-b border-line px-3 py-2.5 last:border-b-0 has-checked:bg-accent-soft has-disabled:opacity-60"
            >
              <input
                type="radio"
                name={group}
                value={scope}
                checked={scope === agent.scope}
                disabled={isClosed}
                onChange={() => set(scope)}
                className="mt-[3px] size-4 accent-(--accent)"
              />
              <span className="font-control">{label}</span>
              <span className="col-start-2 text-data text-ink-3">{text}</span>
            </label>
          )
        })}
      </fieldset>
      {reached !== undefined && isAbove(agent.scope, reached.scope) && (
        <p role="status" className="mt-2 rounded-field bg-retry-soft px-3 py-2 text-retry-text">
          The {role} role allows at most “{reached.label}”, so this agent can do no more than that.
        </p>
      )}
    </>
  )
}

const ROLES = ['viewer', 'developer', 'admin', 'owner']
const roleIncludes = (role: string | null, least: string | null): boolean =>
  ROLES.indexOf(role ?? '') >= ROLES.indexOf(least ?? '')

function LastRefusal({
  agent,
  widen,
  isBusy,
}: Setting & { readonly widen: (scope: Scope) => void }): ReactElement | null {
  const { last_refusal: refusal, scope, yours, status } = agent
  if (refusal === null) return null
  const needed = refusal.required_scope
  const isOpen = needed !== null && isAbove(needed, scope) && status === 'active'
  return (
    <Part
      title="Last refusal"
      beside={
        isOpen && yours ? (
          <Button disabled={isBusy} onClick={() => widen(needed)}>
            Widen to {labelOf(needed)}
          </Button>
        ) : undefined
      }
    >
      <p className="text-ink-2">
        <span className="mono text-data">{refusal.route}</span> was {refusalText(refusal.reason)},{' '}
        <Ago at={refusal.at} />.
        {needed !== null && !isOpen && status === 'active' && ' The current access is enough for this call.'}
      </p>
    </Part>
  )
}

function factsOf(agent: Agent): readonly (readonly [string, ReactElement | string])[] {
  const { connected_by: by, last_call: call } = agent
  return [
    ['Connected by', agent.yours ? 'you' : (by.email ?? by.name)],
    ['Connected', <Time key="at" at={agent.connected_at} />],
    ['Program', agent.host === null ? 'registered itself; nobody has checked its name' : `published by ${agent.host}`],
    ['Redirect host', agent.redirect_host ?? 'a device, with a code'],
    [
      'Last call',
      call === null ? (
        'never'
      ) : (
        <span key="call">
          <span className="mono text-data">{call.route}</span>, <Ago at={call.at} />
        </span>
      ),
    ],
    [
      'Client ID',
      <span key="client" className="mono text-data break-all">
        {agent.client_id}
      </span>,
    ],
  ]
}
