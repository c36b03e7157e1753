import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { Choice } from '../../../parts/choice.tsx'
import { createBodyOf, KIND_WORDS, NEW_PROVIDER, type Kind, type ProviderBody } from './draft.ts'
import { ProviderFields } from './form.tsx'

const KINDS: readonly Kind[] = ['openai_compatible', 'openai', 'anthropic']

export function CreateDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const [draft, setDraft] = useState(NEW_PROVIDER)
  const create = useChange(['aiProviders'], (client, body: ProviderBody) => client.aiProviders.create(body))
  const read = createBodyOf(draft)
  const change = (part: Partial<typeof draft>): void => setDraft({ ...draft, ...part })
  return (
    <CreateWindow
      wide
      title="New AI provider"
      lead="A server for language models. You can test the provider after you create it."
      read={read}
      call={(body) => ({
        method: 'POST',
        path: 'ai-providers',
        body: { ...body, ...(body.api_key === undefined ? {} : { api_key: 'YOUR_KEY' }) },
      })}
      submit={(body) => create.mutate(body, { onSuccess: ({ ai_provider }) => onMade(ai_provider.id) })}
      change={create}
      onClose={onClose}
    >
      <Choice
        label="Kind"
        of={KINDS.map((id) => ({ id, label: KIND_WORDS[id] }))}
        at={draft.kind}
        go={(kind) => change({ kind, structured: true })}
        hint={
          draft.kind === 'openai_compatible'
            ? 'For Ollama, vLLM, llama.cpp, LM Studio, OpenRouter and others.'
            : 'Postroad knows the base URL. Enter a different one only for a gateway.'
        }
      />
      <ProviderFields draft={draft} change={change} />
    </CreateWindow>
  )
}
