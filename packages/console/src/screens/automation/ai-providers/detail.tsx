import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useAllAgents, type AiProvider } from '../../../data/automation-lists.ts'
import { To } from '../../../data/go.tsx'
import { useMay, useRefusal } from '../../../data/place.ts'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { CopyMeta, Part } from '../../../parts/detail.tsx'
import { ResourceDetail } from '../../../parts/resource-detail.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { took } from '../../../ui/time.tsx'
import { changeOf, draftOfProvider, KIND_WORDS } from './draft.ts'
import { ProviderFields } from './form.tsx'

const TABS = [{ id: 'settings', label: 'Settings' }] as const

/** One provider: its settings, its agents, and a test. */
export function ProviderDetail({
  row: provider,
  onClose,
}: {
  readonly row: AiProvider
  readonly onClose: () => void
}): ReactElement {
  const [isTesting, setTesting] = useState(false)
  const may = useMay(routes.aiProviders.update)
  const refusal = useRefusal(routes.aiProviders.test)
  const { id, name, kind } = provider
  return (
    <ResourceDetail
      label="Provider"
      name={name}
      path={`ai-providers/${id}`}
      chip={<span className="text-data text-ink-3">{KIND_WORDS[kind]}</span>}
      onClose={onClose}
      meta={
        <>
          <span className="mono max-w-[46ch] truncate">{provider.base_url}</span>
          <CopyMeta text={id} label="Copy ID" />
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={
        <Button
          disabled={!may}
          title={may ? 'Asks the default model for a short response' : refusal}
          onClick={() => setTesting(true)}
        >
          Test
        </Button>
      }
      items={({ calls, copied, link, remove }) => [...calls, copied, link, 'line', remove]}
      tabs={TABS}
      remove={{
        verb: 'Delete',
        text: 'Postroad deletes the provider and its key. You cannot delete a provider that an agent uses.',
        may,
        rooms: ['aiProviders'],
        run: (client) => client.aiProviders.remove({ id }),
      }}
      dialogs={isTesting && <TestDialog provider={provider} onClose={() => setTesting(false)} />}
    >
      <Settings provider={provider} />
    </ResourceDetail>
  )
}

function Settings({ provider }: { readonly provider: AiProvider }): ReactElement {
  const agents = useAllAgents().data?.filter(({ provider_id }) => provider_id === provider.id)
  const form = useSaveForm({
    held: draftOfProvider(provider),
    read: changeOf,
    route: routes.aiProviders.update,
    rooms: ['aiProviders'],
    send: (client, body) => client.aiProviders.update({ id: provider.id, ...body }),
    countsFrom: 'the next model call',
  })
  return (
    <SaveForm label="Settings" of={form}>
      <Part title="Server">
        <ProviderFields {...fieldsOf(form)} isHeld={provider.has_api_key} />
      </Part>
      <Part title="Agents">
        {agents?.length === 0 ? (
          <p className="text-ink-3">No agents use this provider yet.</p>
        ) : (
          <ul className="flex flex-wrap gap-x-4">
            {agents?.map(({ id, name }) => (
              <li key={id}>
                <To
                  screen="agents"
                  search={{ sel: id }}
                  className="inline-flex min-h-6 items-center text-accent underline"
                >
                  {name}
                </To>
              </li>
            ))}
          </ul>
        )}
      </Part>
    </SaveForm>
  )
}

/** One short answer of the default model, or the reason why there is none. */
function TestDialog({
  provider: { id, name, default_model },
  onClose,
}: {
  readonly provider: AiProvider
  readonly onClose: () => void
}): ReactElement {
  const test = useChange([], (client) => client.aiProviders.test({ id }))
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Test ${name}`}
      lead={`Postroad asks ${default_model} for a short response. The provider can charge for the request.`}
      actions={
        <>
          <CopyAs className="mr-auto" call={{ method: 'POST', path: `ai-providers/${id}/test` }} />
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" disabled={test.isPending} onClick={() => test.mutate(undefined)}>
            {test.data === undefined ? 'Send test prompt' : 'Send again'}
          </Button>
        </>
      }
    >
      {test.isPending && (
        <p role="status" className="text-ink-3">
          Waiting for the response…
        </p>
      )}
      <RefusedLine error={test.error} />
      {!test.isPending && test.data !== undefined && (
        <div role="status">
          <p className="flex items-center gap-3">
            <Chip tone={test.data.ok ? 'ok' : 'fail'}>
              {test.data.ok ? 'The model responded' : 'The model did not respond'}
            </Chip>
            <span className="mono text-meta text-ink-3">{took(test.data.duration_ms)}</span>
          </p>
          {test.data.error !== null && <p className="mt-2 break-words text-fail">{test.data.error}</p>}
          {test.data.text !== null && (
            <pre
              tabIndex={0}
              aria-label="Model response"
              className="mono mt-2 max-h-52 overflow-auto rounded-field bg-sunken p-2.5 text-data break-words whitespace-pre-wrap"
            >
              {test.data.text}
            </pre>
          )}
        </div>
      )}
    </Dialog>
  )
}
