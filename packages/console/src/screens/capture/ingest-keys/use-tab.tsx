import { useState, type ReactElement } from 'react'
import type { IngestKey } from '../../../data/lists.ts'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { Facts, Part } from '../../../parts/detail.tsx'
import { Time } from '../../../ui/time.tsx'
import { commandsOf, SHAPE_TEXTS, type Shape } from './commands.ts'
import { scopesText } from './form.tsx'

/** The commands that use a key. They take the key itself from the environment. */
export function UseTab({
  ingestKey: { scopes, datasets, ip_allowlist, require_signature, created_at },
}: {
  readonly ingestKey: IngestKey
}): ReactElement {
  const [shape, setShape] = useState<Shape>(scopes.includes('ingest') ? 'By rules' : 'Read the stream')
  const needed = shape === 'Read the stream' ? 'stream' : 'ingest'
  return (
    <>
      <Part title="How to use it" text={SHAPE_TEXTS[shape]}>
        <CodeBlock
          label="How to use the key"
          of={commandsOf({
            key: { variable: 'INGEST_KEY' },
            isSigned: require_signature,
            dataset: datasets?.[0] ?? 'orders',
          })}
          at={shape}
          go={setShape}
        />
        <p className="mt-2 text-data text-ink-3">
          The console does not store the key. Set <code className="mono">INGEST_KEY</code>
          {require_signature && (
            <>
              {' '}
              and its signing secret into <code className="mono">SIGNING_SECRET</code>
            </>
          )}{' '}
          first.
        </p>
        {!scopes.includes(needed) && (
          <p role="status" className="mt-2 rounded-field bg-retry-soft px-3 py-2 text-retry-text">
            {needed === 'stream' ? 'This key cannot read the stream' : 'This key cannot send events'}. Postroad returns
            403 until you allow it under Settings.
          </p>
        )}
      </Part>
      <Part title="Permissions">
        <Facts
          of={[
            ['Scopes', scopesText(scopes)],
            [
              'Datasets',
              datasets === null ? (
                'all datasets'
              ) : (
                <span key="datasets" className="mono text-data">
                  {datasets.join(', ')}
                </span>
              ),
            ],
            [
              'From',
              ip_allowlist.length === 0 ? (
                'any address'
              ) : (
                <span key="from" className="mono text-data">
                  {ip_allowlist.join(', ')}
                </span>
              ),
            ],
            ['Signature', require_signature ? 'required, X-Service-Signature' : 'not required'],
            ['Created', <Time key="created" at={created_at} />],
          ]}
        />
      </Part>
    </>
  )
}
