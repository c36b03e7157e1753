import { ArrowRight } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import type { Webhook } from '../../../data/lists.ts'
import { useWebhooks } from '../../../data/names.ts'
import type { Rejection } from '../../../data/tail.ts'
import { Detail, Part } from '../../../parts/detail.tsx'
import { SCHEMES } from '../../../parts/schemes.ts'
import { RefusedSamplePart } from '../../../parts/refused-sample.tsx'
import { SignatureHelp } from '../../../parts/signature-tester.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { Select } from '../../../ui/field.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { Time } from '../../../ui/time.tsx'
import { CAUSES, type Group } from '../../../parts/causes.ts'
import { Mend } from './fix.tsx'

const SHOWN = 100

type Props = {
  readonly group: Group
  /** Reads older minutes, if there are any. */
  readonly older: { readonly isReading: boolean; readonly read: () => void } | undefined
  readonly nameOf: (row: Rejection) => string
  readonly onClose: () => void
}

/** One cause: its meaning, the remedy and its place, a sample of a request, and the minutes in which it happened. */
export function CausePanel({ group: { id, rows, count, remedy }, older, nameOf, onClose }: Props): ReactElement {
  const cause = CAUSES[id]
  const { all } = useWebhooks()
  const [shown, setShown] = useState(SHOWN)
  const concerned = all.filter((webhook) => rows.some(({ webhook_id }) => webhook_id === webhook.id))
  const sampled =
    cause.remedy === 'verification' ? concerned.filter(({ verification }) => verification.scheme !== 'none') : concerned
  return (
    <Detail
      label="Cause"
      title={cause.title}
      chip={<Chip tone="rejected">{counted(count, 'request')}</Chip>}
      meta={<span className="mono">{id}</span>}
      actions={null}
      onClose={onClose}
    >
      <div
        className="min-h-0 flex-1 overflow-y-auto border-t border-line"
        tabIndex={0}
        role="group"
        aria-label="About this cause"
      >
        <Part title="Remedy">
          <p className="mb-1 text-ink-2">{cause.text}</p>
          <p>{remedy}</p>
        </Part>
        {concerned.length > 0 && (
          <Part title="Where">
            <ul aria-label="Endpoints">
              {concerned.map((webhook) => (
                <Concerned
                  key={webhook.id}
                  webhook={webhook}
                  rows={rows.filter(({ webhook_id }) => webhook_id === webhook.id)}
                  id={id}
                />
              ))}
            </ul>
          </Part>
        )}
        {sampled.length > 0 && <SamplePart webhooks={sampled} reason={id} />}
        <Part
          title="When"
          text="Postroad groups requests by minute and by URL or key. The address and type are from the last request."
        >
          <ul aria-label="Minutes">
            {rows.slice(0, shown).map((row) => (
              <Minute key={row.id} row={row} where={nameOf(row)} />
            ))}
          </ul>
          {(rows.length > shown || older !== undefined) && (
            <Button
              className="mt-3"
              disabled={older?.isReading === true && rows.length <= shown}
              onClick={() => {
                setShown(shown + SHOWN)
                if (rows.length <= shown + SHOWN) older?.read()
              }}
            >
              Show older minutes
            </Button>
          )}
        </Part>
      </div>
    </Detail>
  )
}

const TABS = {
  verification: 'verification',
  access: 'access',
  address: 'access',
  enable: undefined,
  none: undefined,
} as const

function Concerned({
  webhook,
  rows,
  id,
}: {
  readonly webhook: Webhook
  readonly rows: readonly Rejection[]
  readonly id: Group['id']
}): ReactElement {
  const { remedy } = CAUSES[id]
  const expects = remedy === 'verification' ? expectationOf(webhook, id) : undefined
  return (
    <li className="border-b border-line/55 py-1 last:border-b-0">
      <To
        screen="endpoints"
        search={{ sel: webhook.id, tab: TABS[remedy] }}
        className="flex min-h-7 items-center gap-2 rounded-row hover:bg-hover"
      >
        <span className="min-w-0 truncate font-control">{webhook.name}</span>
        <span className="mono ml-auto text-data text-ink-3">
          ×{rows.reduce((sum, { count }) => sum + count, 0).toLocaleString('en')}
        </span>
        <ArrowRight className="size-3.5 flex-none text-ink-2" strokeWidth={1.5} aria-hidden />
      </To>
      {expects !== undefined && <p className="text-ink-3">{expects}</p>}
      <Mend webhook={webhook} rows={rows} remedy={remedy} />
    </li>
  )
}

/** The part of the signature check that concerns the cause. A missing secret comes first: no request passes then. */
function expectationOf({ verification }: Webhook, id: Group['id']): string | undefined {
  if (verification.scheme === 'none') return 'The endpoint no longer checks signatures.'
  if (verification.has_secret === false)
    return 'The endpoint has no secret. It rejects every request until you set one.'
  const { header, label } = SCHEMES[verification.scheme]
  const named = 'header' in verification && verification.header !== undefined ? verification.header : header
  if (id === 'stale_timestamp' && 'tolerance_seconds' in verification)
    return `The endpoint accepts timestamps within ${verification.tolerance_seconds} s of the current time.`
  // Either header of this scheme can have the signature.
  const read = named === 'Stripe-Signature' ? `${named} or Payment-Signature` : named
  return `${label}: the endpoint reads the header ${read}.`
}

const SIGNATURE_REASONS = ['missing_header', 'bad_signature', 'stale_timestamp'] as const

/** Shows a sample of a rejected request to the chosen endpoint. For a signature, a person can also test another request. */
function SamplePart({
  webhooks,
  reason: cause,
}: {
  readonly webhooks: readonly Webhook[]
  readonly reason: Group['id']
}): ReactElement {
  const [chosen, setChosen] = useState<string | undefined>()
  const at = webhooks.find(({ id }) => id === chosen) ?? webhooks[0]
  const reason = SIGNATURE_REASONS.find((one) => one === cause)
  if (reason === undefined)
    return (
      <Part title="The last rejected request" text="One redacted sample for each cause and endpoint, for 7 days.">
        <EndpointSelect webhooks={webhooks} at={at?.id} go={setChosen} />
        {at !== undefined && <RefusedSamplePart key={at.id} webhook={at} reason={cause} />}
      </Part>
    )
  return (
    <Part
      title="Why it was rejected"
      text="See the last request that was rejected for this cause, or test another one."
    >
      <EndpointSelect webhooks={webhooks} at={at?.id} go={setChosen} />
      {at !== undefined && <SignatureHelp key={at.id} webhook={at} reason={reason} />}
    </Part>
  )
}

function EndpointSelect({
  webhooks,
  at,
  go,
}: {
  readonly webhooks: readonly Webhook[]
  readonly at: string | undefined
  readonly go: (id: string) => void
}): ReactElement | null {
  if (webhooks.length < 2) return null
  return (
    <Select label="Endpoint" value={at} onChange={({ target }) => go(target.value)}>
      {webhooks.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  )
}

function Minute({
  row: { at, count, source_ip, method, content_type },
  where,
}: {
  readonly row: Rejection
  readonly where: string
}): ReactElement {
  return (
    <li className="grid min-h-8 grid-cols-[minmax(96px,auto)_40px_minmax(0,1fr)_minmax(0,1fr)_auto] items-center gap-3 border-b border-line/55 last:border-b-0">
      <Time at={at} />
      <span className="mono text-right text-data">{count > 1 ? `×${count}` : ''}</span>
      <span className="truncate text-ink-2">{where}</span>
      <span className="mono truncate text-data text-ink-3">
        {method} {content_type ?? 'without Content-Type'}
      </span>
      <span className="mono text-data text-ink-2">{source_ip ?? 'unknown'}</span>
    </li>
  )
}
