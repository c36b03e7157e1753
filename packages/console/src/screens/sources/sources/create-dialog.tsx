import { useState, type ReactElement, type ReactNode } from 'react'
import type { Client } from '@postroad/sdk'
import { useChange } from '../../../data/ask.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { type CopiedCall } from '../../../parts/copy-as.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { CronFields, cronBodyOf, newCron } from './cron-form.tsx'
import { bodyOf, newDraft, secretless, type SourceKind } from './draft.ts'
import { kindLabel, KINDS, type KindId } from './origin.ts'
import { SamplePart } from './sample-part.tsx'
import { KindFields, NameFields } from './source-fields.tsx'
import { NEW_WS, secretlessWs, wsBodyOf, WsFields } from './ws-form.tsx'

type Props = { readonly onClose: () => void; readonly onMade: (id: string) => void }

/** Creates a source: first its kind, then its settings, with a test before it is saved. */
export function CreateDialog({ onClose, onMade }: Props): ReactElement {
  const [kind, setKind] = useState<KindId | undefined>()
  const back = { onBack: () => setKind(undefined), onClose, onMade }
  if (kind === 'cron') return <NewCron {...back} />
  if (kind === 'ws') return <NewSocket {...back} />
  if (kind !== undefined) return <NewSource kind={kind} {...back} />
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="New source"
      lead="A source creates events from a system that does not send webhooks."
      actions={<Button onClick={onClose}>Cancel</Button>}
    >
      <ul className="grid grid-cols-2 gap-2 max-md:grid-cols-1">
        {KINDS.map(({ id, label, text }) => (
          <li key={id}>
            <button
              type="button"
              data-first={id === 'postgres' ? '' : undefined}
              onClick={() => setKind(id)}
              className="flex h-full w-full flex-col rounded-field border border-line-2 bg-surface px-3.5 py-2.5 text-left hover:bg-sunken"
            >
              <b className="font-strong">{label}</b>
              <span className="text-data text-ink-3">{text}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

type NewProps = Props & { readonly onBack: () => void }
/** The window around the form of each kind. */
function Frame<Body>({
  kind,
  read,
  call,
  send,
  onBack,
  onClose,
  onMade,
  children,
  lead,
}: NewProps & {
  readonly kind: KindId
  readonly read: { readonly body: Body } | { readonly problem: string }
  readonly call: (body: Body) => CopiedCall
  /** Creates it, and returns its id. */
  readonly send: (client: Client, body: Body) => Promise<string>
  readonly children: ReactNode
  readonly lead?: string
}): ReactElement {
  const create = useChange(['sources'], send)
  return (
    <CreateWindow
      wide
      title={`New source: ${kindLabel(kind)}`}
      lead={lead}
      read={read}
      call={call}
      submit={(body) => create.mutate(body, { onSuccess: onMade })}
      change={create}
      onClose={onClose}
      onBack={onBack}
    >
      {children}
    </CreateWindow>
  )
}

function NewSource({ kind, ...props }: NewProps & { readonly kind: SourceKind }): ReactElement {
  const [draft, setDraft] = useState(() => newDraft(kind))
  const fields = { draft, change: (part: Partial<typeof draft>) => setDraft({ ...draft, ...part }) }
  return (
    <Frame
      {...props}
      kind={kind}
      read={bodyOf(draft)}
      call={(body) => ({ method: 'POST', path: 'sources', body: secretless(body) })}
      send={async (client, body) => (await client.sources.create(body)).source.id}
      lead="Postroad stores the events and the position in one transaction, so a crash cannot lose or repeat an event."
    >
      <KindFields {...fields} />
      <SamplePart draft={draft} />
      <NameFields {...fields} />
    </Frame>
  )
}

function NewCron(props: NewProps): ReactElement {
  const [draft, setDraft] = useState(newCron)
  return (
    <Frame
      {...props}
      kind="cron"
      read={cronBodyOf(draft)}
      call={(body) => ({ method: 'POST', path: 'cron-triggers', body })}
      send={async (client, body) => (await client.cronTriggers.create(body)).cron_trigger.id}
      lead="Each run is stored exactly once. After downtime, the schedule runs once for all missed runs."
    >
      <CronFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
    </Frame>
  )
}

function NewSocket(props: NewProps): ReactElement {
  const [draft, setDraft] = useState(NEW_WS)
  return (
    <Frame
      {...props}
      kind="ws"
      read={wsBodyOf(draft)}
      call={(body) => ({ method: 'POST', path: 'ws-triggers', body: secretlessWs(body) })}
      send={async (client, body) => (await client.wsTriggers.create(body)).ws_trigger.id}
      lead="WebSockets do not resend messages. Messages that are sent while Postroad is not connected are lost."
    >
      <WsFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
    </Frame>
  )
}
