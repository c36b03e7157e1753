import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useAllProviders } from '../../../data/automation-lists.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { agentBodyOf, NEW_AGENT, type AgentBody } from './draft.ts'
import { LimitFields, TaskFields } from './form.tsx'

export function CreateDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const [typed, setDraft] = useState(NEW_AGENT)
  const first = useAllProviders().data?.[0]?.id ?? ''
  const draft = { ...typed, providerId: typed.providerId === '' ? first : typed.providerId }
  const create = useChange(['aiAgents'], (client, body: AgentBody) => client.aiAgents.create(body))
  const read = agentBodyOf(draft)
  const fields = { draft, change: (part: Partial<typeof draft>) => setDraft({ ...draft, ...part }) }
  return (
    <CreateWindow
      wide
      title="New agent"
      lead="A model with instructions, tools and limits. Triggers and workflows run agents on records."
      read={read}
      call={(body) => ({ method: 'POST', path: 'ai-agents', body })}
      submit={(body) => create.mutate(body, { onSuccess: ({ ai_agent }) => onMade(ai_agent.id) })}
      change={create}
      onClose={onClose}
    >
      <TaskFields {...fields} />
      <details className="mb-3.5 rounded-field border border-line px-3.5 open:pb-1">
        <summary className="flex h-9 cursor-default items-center font-control">Limits and prices</summary>
        <div className="pt-2">
          <LimitFields {...fields} />
        </div>
      </details>
    </CreateWindow>
  )
}
