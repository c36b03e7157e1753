import { LIMITS, routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import type { Webhook } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { Facts, Part } from '../../../parts/detail.tsx'
import { Overlap } from '../../../parts/overlap.tsx'
import { Rotate } from '../../../parts/rotate.tsx'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy.tsx'
import { Countdown } from '../../../ui/time.tsx'
import { masked } from './columns.tsx'
import { SCHEMES } from '../../../parts/schemes.ts'
import { snippetsOf, type Language } from './snippets.ts'

/** The commands that send to an endpoint, and the rotation of its URL without the loss of an event. */
export function SetupTab({ webhook }: { readonly webhook: Webhook }): ReactElement {
  const [isShown, setShown] = useState(false)
  const [language, setLanguage] = useState<Language>('curl')
  const { public_url, verification, dataset, slug } = webhook
  const scheme = SCHEMES[verification.scheme]
  return (
    <>
      <Part
        title="URL"
        text="The last part is a credential. Anyone who knows it can send events."
        beside={<Button onClick={() => setShown(!isShown)}>{isShown ? 'Hide the URL' : 'Show the URL'}</Button>}
      >
        <div className="flex min-h-10 items-center gap-3 rounded-page border border-line-2 px-3.5">
          <span className="mono font-control text-data text-accent">POST</span>
          <code className="mono min-w-0 flex-1 text-data break-all">
            {isShown ? public_url : `${new URL(public_url).origin}${masked(webhook)}`}
          </code>
          <CopyButton text={public_url} label="Copy the URL" />
        </div>
      </Part>
      <Part
        title="Send an event"
        text={
          verification.scheme === 'none'
            ? 'Run the command. The event appears here immediately.'
            : `This endpoint verifies signatures (${scheme.label}). Sign the body as your sender does. Otherwise, Postroad returns 401.`
        }
      >
        <CodeBlock
          label="How to send an event"
          of={snippetsOf(isShown ? public_url : undefined, scheme.header === '' ? verification.header : scheme.header)}
          at={language}
          go={setLanguage}
        />
        {!isShown && (
          <p className="mt-2 text-data text-ink-3">
            The commands omit the hidden URL. Show the URL above to include it.
          </p>
        )}
      </Part>
      <Part title="Ingest">
        <Facts
          of={[
            [
              'Dataset',
              <code key="dataset" className="mono text-data">
                {dataset}
              </code>,
            ],
            [
              'With an ingest key',
              <code key="slug" className="mono text-data">
                /v1/webhooks/&lt;ingest key&gt;/{slug}
              </code>,
            ],
            [
              'Accepts',
              `JSON, form and multipart bodies up to ${(LIMITS.ingestBodyBytesDefault / 1_048_576).toFixed(0)} MiB, unless the operator set a different limit`,
            ],
          ]}
        />
      </Part>
      <RotatePart webhook={webhook} />
    </>
  )
}

function RotatePart({
  webhook: { id, previous_public_url, previous_url_expires_at },
}: {
  readonly webhook: Webhook
}): ReactElement {
  const [hours, setHours] = useState<number>(LIMITS.rotationOverlapHoursDefault)
  const refusal = useRefusal(routes.webhooks.rotate)
  const rotate = useChange(['webhooks'], (client, mayEnd: boolean) =>
    client.webhooks.rotate({ id, overlap_hours: hours, end_overlap: mayEnd }),
  )
  return (
    <Part title="Rotate the URL" text="The endpoint retains its ID, dataset, settings and history.">
      {previous_public_url !== null && previous_url_expires_at !== null && (
        <p role="status" className="mb-3.5 rounded-field bg-retry-soft px-3 py-2 text-retry-text">
          The previous URL still works. It expires <Countdown to={previous_url_expires_at} />.
        </p>
      )}
      <Overlap hours={hours} change={setHours} what="URL" />
      {rotate.data !== undefined && (
        <p
          role="status"
          className="mb-3.5 flex items-center gap-2 rounded-field border border-accent-line bg-accent-soft px-3 py-2"
        >
          The endpoint has a new URL. Give it to your sender.{' '}
          <CopyButton text={rotate.data.public_url} label="Copy the new URL" />
        </p>
      )}
      <Rotate what="URL" hours={hours} until={previous_url_expires_at} refused={refusal} rotate={rotate} />
    </Part>
  )
}
