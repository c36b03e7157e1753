import { LIMITS, type RouteRequest, type Routes } from '@postroad/contract'
import type { Light } from '@postroad/contract/lights'
import type { AiTrigger } from '../../../data/automation-lists.ts'
import { draftOf, sentOf, type ConditionDraft } from '../../../parts/condition-draft.ts'

export type TriggerBody = RouteRequest<Routes['triggers']['create']>

export type TriggerDraft = {
  readonly name: string
  readonly dataset: string
  readonly conditions: readonly ConditionDraft[]
  readonly agentId: string
  readonly perMinute: string
  readonly outputDataset: string
}

export const NEW_TRIGGER: TriggerDraft = {
  name: '',
  dataset: '',
  conditions: [],
  agentId: '',
  perMinute: String(LIMITS.aiTriggerPerMinuteDefault),
  outputDataset: '',
}

export function draftOfTrigger(of: AiTrigger): TriggerDraft {
  return {
    name: of.name,
    dataset: of.dataset,
    conditions: of.conditions.map(draftOf),
    agentId: of.agent_id,
    perMinute: String(of.max_per_minute),
    outputDataset: of.output_dataset ?? '',
  }
}

export function triggerBodyOf(draft: TriggerDraft): { readonly body: TriggerBody } | { readonly problem: string } {
  if (draft.name.trim() === '') return { problem: 'Enter a name.' }
  if (draft.dataset.trim() === '') return { problem: 'Enter the dataset whose records start the agent.' }
  if (draft.agentId === '') return { problem: 'Choose an agent.' }
  return {
    body: {
      name: draft.name.trim(),
      dataset: draft.dataset.trim(),
      conditions: draft.conditions.map(sentOf),
      agent_id: draft.agentId,
      max_per_minute: Number(draft.perMinute),
      output_dataset: draft.outputDataset.trim() === '' ? null : draft.outputDataset.trim(),
    },
  }
}

export function triggerLight({ active }: Pick<AiTrigger, 'active'>): Light {
  return active
    ? { tone: 'ok', word: 'on', text: 'Each matching record starts a run.' }
    : { tone: 'paused', word: 'off', text: 'Records do not start runs.' }
}
