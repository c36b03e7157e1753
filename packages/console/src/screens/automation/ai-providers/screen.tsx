import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllProviders, type AiProvider } from '../../../data/automation-lists.ts'
import { Ago } from '../../../ui/ago.tsx'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { ProviderDetail } from './detail.tsx'
import { KIND_WORDS } from './draft.ts'

const NAME: Column<AiProvider> = {
  id: 'name',
  label: 'Provider',
  width: 'minmax(140px,1.6fr)',
  plain: true,
  cell: ({ name, base_url }) => <TwoLines top={name} below={<span className="mono">{base_url}</span>} />,
}

const COLUMNS: readonly Column<AiProvider>[] = [
  NAME,
  {
    id: 'kind',
    label: 'Kind',
    width: 'minmax(110px,180px)',
    cell: ({ kind }) => <span className="text-ink-2">{KIND_WORDS[kind]}</span>,
  },
  {
    id: 'model',
    label: 'Default model',
    width: 'minmax(110px,1fr)',
    cell: ({ default_model }) => <span className="mono text-data text-ink-2">{default_model}</span>,
  },
  {
    id: 'key',
    label: 'Key',
    width: '80px',
    cell: ({ has_api_key }) => <span className="text-ink-2">{has_api_key ? 'stored' : 'none'}</span>,
  },
  {
    id: 'updated',
    label: 'Changed',
    width: '90px',
    align: 'right',
    cell: ({ updated_at }) => (
      <span className="text-data text-ink-2">
        <Ago at={updated_at} />
      </span>
    ),
  },
]

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'own', label: 'Self-hosted', has: ({ kind }: AiProvider) => kind === 'openai_compatible' },
  { id: 'without', label: 'Without a key', has: ({ has_api_key }: AiProvider) => !has_api_key },
] as const

/** AI providers: the servers of language models that agents use. */
export function Screen(): ReactElement {
  return (
    <ResourceScreen
      title="AI providers"
      one="provider"
      asked={useAllProviders()}
      columns={COLUMNS}
      slim={[NAME]}
      views={VIEWS}
      textOf={({ id, name, base_url, default_model }) => [id, name, base_url, default_model].join(' ')}
      create={{ label: 'New provider', route: routes.aiProviders.create, dialog: CreateDialog }}
      path="ai-providers"
      detail={ProviderDetail}
      never={{
        title: 'No AI providers yet',
        text: 'A provider is a server for language models: Ollama or vLLM on your own machine, OpenRouter, OpenAI or Anthropic. Postroad sends data to a provider only when an agent runs.',
      }}
    />
  )
}
