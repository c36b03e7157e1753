import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAllDatasets, type DataKey } from '../../../data/serving-lists.ts'
import { useMay } from '../../../data/place.ts'
import { Ago } from '../../../ui/ago.tsx'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { CopyMeta, Facts, Part } from '../../../parts/detail.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { Select } from '../../../ui/field.tsx'
import { readingOf } from './commands.ts'
import { changesIn, draftOfKey, keyBodyOf, keyLight } from './draft.ts'
import { KeyFields } from './form.tsx'
import { Expiry } from './expiry.tsx'

const TABS = [
  { id: 'use', label: 'Use', of: UseTab },
  { id: 'settings', label: 'Settings', of: SettingsTab },
] as const

type TabProps = { readonly row: DataKey }

/** One key: how a program reads with it, and what it may read. */
export function DataKeyDetail({ row, onClose }: TabProps & { readonly onClose: () => void }): ReactElement {
  const may = useMay(routes.dataKeys.update)
  const { of: Tab } = useTab(TABS)
  const { id, name, shown_prefix } = row
  const { tone, word } = keyLight(row)
  return (
    <ResourceDetail
      label="Key"
      name={name}
      path={`data-keys/${id}`}
      chip={<Chip tone={tone}>{word}</Chip>}
      onClose={onClose}
      meta={
        <>
          <span className="mono">{shown_prefix}…</span>
          <CopyMeta text={id} label="Copy ID" />
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={null}
      items={({ calls, copied, link, remove }) => [...calls, copied, link, 'line', remove]}
      tabs={TABS}
      remove={{
        verb: 'Revoke',
        text: 'The next request with this key gets 401. You cannot restore a revoked key.',
        may,
        rooms: ['dataKeys'],
        run: (client) => client.dataKeys.remove({ id }),
      }}
    >
      <Tab row={row} />
    </ResourceDetail>
  )
}

function UseTab({ row }: TabProps): ReactElement {
  const [shape, setShape] = useState('JSON')
  const all = (useAllDatasets().data ?? []).map(({ name }) => name)
  const readable = row.datasets ?? all
  const [chosen, setDataset] = useState('')
  const dataset = chosen === '' ? (readable[0] ?? 'orders') : chosen
  return (
    <>
      <Part title="State">
        <Facts
          of={[
            ['Reads', row.datasets === null ? 'all datasets, including future ones' : row.datasets.join(', ')],
            ['Requests per 10 s', row.requests_per_10_seconds.toLocaleString('en')],
            ['Addresses', row.ip_allowlist.length === 0 ? 'any address' : row.ip_allowlist.join(', ')],
            ['Expires', <Expiry key="expiry" of={row} />],
            [
              'Last used',
              row.last_used_at === null ? (
                <span key="used" className="text-ink-3">
                  never
                </span>
              ) : (
                <Ago key="used" at={row.last_used_at} />
              ),
            ],
            ['Created', <Ago key="created" at={row.created_at} />],
          ]}
        />
      </Part>
      <Part
        title="Read records"
        text="The key was shown once when it was created. The commands read it from the DATA_KEY variable. Each response is one page. To get the next page, pass next_cursor (or the Next-Cursor header) as the cursor parameter."
      >
        {readable.length > 1 && (
          <Select label="Dataset" value={dataset} onChange={({ target }) => setDataset(target.value)}>
            {readable.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
        )}
        <CodeBlock
          label="Commands"
          of={readingOf({ key: { variable: 'DATA_KEY' }, dataset })}
          at={shape}
          go={setShape}
        />
        <p className="mt-3">
          <a
            href="/docs/data"
            target="_blank"
            rel="noreferrer"
            className="inline-flex min-h-6 items-center text-accent underline"
          >
            Data API guide
          </a>
        </p>
      </Part>
    </>
  )
}

function SettingsTab({ row }: TabProps): ReactElement {
  const held = draftOfKey(row)
  const form = useSaveForm({
    held,
    read: keyBodyOf,
    route: routes.dataKeys.update,
    rooms: ['dataKeys'],
    send: (client, body) => client.dataKeys.update({ id: row.id, ...changesIn(body, held) }),
    countsFrom: 'the next request',
  })
  return (
    <SaveForm label="Settings" of={form}>
      <Part title="Permissions and limits">
        <KeyFields {...fieldsOf(form)} />
      </Part>
    </SaveForm>
  )
}
