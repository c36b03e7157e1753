import type { ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import { useAllDestinations, useAllWebhooks } from '../../../data/lists.ts'
import { Part } from '../../../parts/detail.tsx'
import { Button } from '../../../ui/button.tsx'
import { Glyph } from '../../../ui/glyph.tsx'
import { Items, kindText } from './plan-items.tsx'
import type { Outcome } from './plan.ts'

/** After a plan was applied: its result, and the secrets that a person must set. */
export function Applied({ of, onDone }: { readonly of: Outcome; readonly onDone: () => void }): ReactElement {
  return (
    <>
      <Part
        title="Applied"
        text={`Created ${of.create.length}, changed ${of.change.length}, deleted ${of.delete.length}. The audit log records every change.`}
        beside={
          <Button kind="primary" onClick={onDone}>
            Done
          </Button>
        }
      >
        <div role="status" className="sr-only">
          The configuration was applied.
        </div>
      </Part>
      <Missing of={of} />
      <Items title="Created" tone="ok" of={of.create} isFolded />
      <Items title="Changed" tone="retry" of={of.change} isFolded />
      <Items title="Deleted" tone="fail" of={of.delete} isFolded />
    </>
  )
}

/** The secrets that are missing, each with the place where a person sets it. A line is done once its secret is set. */
function Missing({ of }: { readonly of: Outcome }): ReactElement {
  const webhooks = useAllWebhooks().data ?? []
  const destinations = useAllDestinations().data ?? []
  const count = of.needs_verification_secret.length + of.needs_secrets.length
  if (count === 0)
    return (
      <Part title="Secrets" text="No secrets are missing.">
        {null}
      </Part>
    )
  return (
    <Part
      title="Set the missing secrets"
      text="Configuration files do not contain secrets. Until you set these secrets, the endpoints reject every event with 401, and deliveries wait."
    >
      <ol aria-label="Missing secrets">
        {of.needs_verification_secret.map((slug) => {
          const webhook = webhooks.find((one) => one.slug === slug)
          return (
            <Line
              key={slug}
              name={webhook?.name ?? slug}
              kind="endpoint"
              needs="the sender’s verification secret"
              isDone={webhook?.verification.has_secret === true}
              screen="endpoints"
              search={{ ...(webhook === undefined ? {} : { sel: webhook.id }), tab: 'verification' }}
            />
          )
        })}
        {of.needs_secrets.map(({ kind, identity, needs, waiting }) => {
          const destination = kind === 'destination' ? destinations.find(({ name }) => name === identity) : undefined
          return (
            <Line
              key={`${kind} ${identity}`}
              name={identity}
              kind={kindText(kind)}
              needs={`${needs.join(', ')}${waiting.length === 0 ? '' : `; ${waiting.join(', ')} waits for it`}`}
              isDone={false}
              screen={kind === 'destination' ? 'destinations' : 'endpoints'}
              search={{
                ...(destination === undefined ? {} : { sel: destination.id }),
                tab: needs.some((one) => one.startsWith('headers.')) ? 'settings' : 'auth',
              }}
            />
          )
        })}
      </ol>
    </Part>
  )
}

function Line({
  name,
  kind,
  needs,
  isDone,
  screen,
  search,
}: {
  readonly name: string
  readonly kind: string
  readonly needs: string
  readonly isDone: boolean
  readonly screen: string
  readonly search: Readonly<Record<string, string>>
}): ReactElement {
  return (
    <li className="flex min-h-11 flex-wrap items-center gap-x-3 border-b border-line/55 py-1.5 last:border-b-0">
      <Glyph tone={isDone ? 'ok' : 'retry'} label={isDone ? 'set' : 'missing'} />
      <span className="min-w-0 flex-1">
        <b className="font-strong">{name}</b> <span className="text-ink-3">{kind}</span>
        <span className="block text-ink-3 break-words">{isDone ? 'The secret is set.' : `Needs ${needs}`}</span>
      </span>
      {!isDone && (
        <To screen={screen} search={search} className="inline-block min-h-6 leading-6 text-accent underline">
          Set it
        </To>
      )}
    </li>
  )
}
