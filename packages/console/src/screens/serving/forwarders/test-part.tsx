import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useRefusal } from '../../../data/place.ts'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { withoutValues } from '../../../parts/headers-text.ts'
import { Button } from '../../../ui/button.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { took } from '../../../ui/time.tsx'
import { requestOf, type ForwarderDraft } from './draft.ts'

/** Sends one log record and one span with the settings in the form, and shows the answers. */
export function TestPart({
  draft,
  forwarderId,
}: {
  readonly draft: ForwarderDraft
  /** A saved forwarder, whose stored values of headers apply. */
  readonly forwarderId?: string
}): ReactElement {
  const refusal = useRefusal(routes.forwarders.test)
  const may = refusal === undefined
  const read = requestOf(draft)
  const saved = forwarderId === undefined ? {} : { forwarder_id: forwarderId }
  const test = useChange([], (client) =>
    'body' in read ? client.forwarders.test({ ...saved, ...read.body }) : Promise.reject(new Error(read.problem)),
  )
  return (
    <section aria-label="Test" className="mb-3.5 rounded-field border border-line bg-sunken p-3.5">
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 text-ink-2 max-md:basis-full">
          A test sends one log record and one span that are labeled as a test.
          {'problem' in read && <span className="block text-ink-3">{read.problem}</span>}
        </p>
        <CopyAs
          call={
            'body' in read
              ? {
                  method: 'POST',
                  path: 'forwarders/test',
                  body: { ...saved, ...read.body, headers: withoutValues(read.body.headers ?? {}) },
                }
              : undefined
          }
        />
        <Button
          disabled={!may || test.isPending || 'problem' in read}
          title={refusal}
          onClick={() => test.mutate(undefined)}
        >
          {test.data === undefined ? 'Send test' : 'Send again'}
        </Button>
      </div>
      {test.isPending && (
        <p role="status" className="mt-2 text-ink-3">
          Waiting for the response…
        </p>
      )}
      <RefusedLine error={test.error} />
      {!test.isPending && test.data !== undefined && (
        <div role="status">
          <ul aria-label="Answers" className="mt-2.5">
            {test.data.results.map(({ signal, ok, status, error, duration_ms }) => (
              <li key={signal} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1">
                <Chip tone={ok ? 'ok' : 'fail'}>{ok ? `${signal} accepted` : `${signal} not accepted`}</Chip>
                <span className="mono text-data">{status ?? 'no response'}</span>
                <span className="mono text-meta text-ink-3">{took(duration_ms)}</span>
                {error !== null && <span className="w-full break-words text-fail">{error.error}</span>}
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}
