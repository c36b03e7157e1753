import type { RouteAnswer, RouteRequest, Routes } from '@postroad/contract'
import { draftOf, sentOf, type ConditionDraft } from '../../../parts/condition-draft.ts'
import { lineProblem, mappingDraftOf, mappingOf, type MappingDraft } from '../../../parts/mapping-draft.ts'

type Rule = RouteAnswer<Routes['rules']['list']>['rules'][number]

/** A rule in a form. */
export type RuleDraft = {
  readonly name: string
  readonly dataset: string
  readonly conditions: readonly ConditionDraft[]
  readonly mappings: readonly MappingDraft[]
}

export const NEW_RULE: RuleDraft = { name: '', dataset: '', conditions: [], mappings: [] }

export function draftOfRule({ name, dataset, conditions, mappings }: Rule): RuleDraft {
  return { name, dataset, conditions: conditions.map(draftOf), mappings: mappings.map(mappingDraftOf) }
}

export type RuleBody = Pick<RouteRequest<Routes['rules']['create']>, 'name' | 'dataset' | 'conditions' | 'mappings'>

/** The request body of a draft, or the sentence about its fault. The server checks the rest. */
export function bodyOf(draft: RuleDraft): { readonly body: RuleBody } | { readonly problem: string } {
  const dataset = draft.dataset.trim()
  if (draft.name.trim() === '') return { problem: 'Enter a name. Each record that the rule stores shows it.' }
  if (dataset === '') return { problem: 'Enter the dataset that the rule writes to.' }
  const problem = lineProblem(draft)
  return problem === undefined ? { body: { name: draft.name.trim(), dataset, ...triedOf(draft) } } : { problem }
}

/** The part that can be tested before the rest is written, without empty lines. */
export function triedOf({ conditions, mappings }: Pick<RuleDraft, 'conditions' | 'mappings'>) {
  return {
    conditions: conditions.filter(({ path }) => path.trim() !== '').map(sentOf),
    mappings: mappings.filter(({ target }) => target.trim() !== '').map(mappingOf),
  }
}
