import type { RouteRequest, Routes } from '@postroad/contract'
import type { AiProvider } from '../../../data/automation-lists.ts'

export type Kind = AiProvider['kind']
export type ProviderBody = RouteRequest<Routes['aiProviders']['create']>
export type ProviderChange = Omit<RouteRequest<Routes['aiProviders']['update']>, 'id'>

export const KIND_WORDS: Readonly<Record<Kind, string>> = {
  openai_compatible: 'OpenAI-compatible',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
}

export type ProviderDraft = {
  readonly kind: Kind
  readonly name: string
  readonly baseUrl: string
  /** Empty: the stored one stays. */
  readonly apiKey: string
  readonly removesKey: boolean
  readonly model: string
  readonly structured: boolean
}

export const NEW_PROVIDER: ProviderDraft = {
  kind: 'openai_compatible',
  name: '',
  baseUrl: '',
  apiKey: '',
  removesKey: false,
  model: '',
  structured: true,
}

export function draftOfProvider(of: AiProvider): ProviderDraft {
  return {
    kind: of.kind,
    name: of.name,
    baseUrl: of.base_url,
    apiKey: '',
    removesKey: false,
    model: of.default_model,
    structured: of.structured_outputs,
  }
}

export function createBodyOf(draft: ProviderDraft): { readonly body: ProviderBody } | { readonly problem: string } {
  const problem = problemOf(draft)
  if (problem !== undefined) return { problem }
  return {
    body: {
      name: draft.name.trim(),
      kind: draft.kind,
      ...(draft.baseUrl.trim() === '' ? {} : { base_url: draft.baseUrl.trim() }),
      ...(draft.apiKey === '' ? {} : { api_key: draft.apiKey }),
      default_model: draft.model.trim(),
      structured_outputs: draft.structured,
    },
  }
}

export function changeOf(draft: ProviderDraft): { readonly body: ProviderChange } | { readonly problem: string } {
  const problem = problemOf(draft)
  if (problem !== undefined) return { problem }
  return {
    body: {
      name: draft.name.trim(),
      base_url: draft.baseUrl.trim(),
      ...(draft.removesKey ? { api_key: null } : draft.apiKey === '' ? {} : { api_key: draft.apiKey }),
      default_model: draft.model.trim(),
      structured_outputs: draft.structured,
    },
  }
}

function problemOf({ name, kind, baseUrl, model }: ProviderDraft): string | undefined {
  if (name.trim() === '') return 'Enter a name.'
  if (kind === 'openai_compatible' && baseUrl.trim() === '') return 'Enter the base URL.'
  return model.trim() === '' ? 'Enter the default model.' : undefined
}
