import { useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { Choice } from '../../../parts/choice.tsx'
import { DryRunResults } from '../../../parts/dry-run.tsx'
import { useSettled } from '../../../parts/settled.ts'
import { TextArea } from '../../../ui/field.tsx'
import { triedOf, type RuleDraft } from './draft.ts'

const RECENT = 200
const NONE =
  'None of the newest 10,000 requests in this project reached the rules. Send an event to POST /v1/ingest/<ingest key> to test the rule.'
const SAMPLE = '{"type":"order.created","total":42.5}'

/** The result of conditions and mappings on recent events, or on a payload that a person writes here. */
export function TryPart({ draft }: { readonly draft: Pick<RuleDraft, 'conditions' | 'mappings'> }): ReactElement {
  const [on, setOn] = useState<'recent' | 'own'>('recent')
  const [payload, setPayload] = useState(SAMPLE)
  const isJson = on === 'recent' || parses(payload)
  const tried = useSettled(
    isJson
      ? JSON.stringify({
          ...triedOf(draft),
          ...(on === 'recent' ? { recent: RECENT } : { payloads_text: `[${payload}]` }),
        })
      : '',
  )
  const asked = useAsk(['rules', 'test', tried], (client, signal) => client.rules.test(readTried(tried), { signal }), {
    keep: true,
    enabled: tried !== '',
  })
  return (
    <>
      <Choice
        label="Test with"
        of={[
          { id: 'recent', label: 'Recent requests' },
          { id: 'own', label: 'Custom payload' },
        ]}
        at={on}
        go={setOn}
      />
      {on === 'own' && (
        <TextArea
          label="Payload"
          rows={5}
          value={payload}
          onChange={({ target }) => setPayload(target.value)}
          aria-invalid={!isJson}
          hint={isJson ? 'JSON, as a sender would send it. The payload is not stored.' : 'This is not valid JSON.'}
        />
      )}
      {on === 'recent' && (
        <p className="mb-2 text-data text-ink-3">
          Only events that reach the rules: POST /v1/ingest/&lt;ingest key&gt; without a dataset.
        </p>
      )}
      {isJson && <DryRunResults asked={asked} none={NONE} />}
    </>
  )
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

type Tried = ReturnType<typeof triedOf> & ({ readonly recent: number } | { readonly payloads_text: string })

function readTried(text: string): Tried {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the text was written from such a value
  return JSON.parse(text) as Tried
}
