import type { Condition, RouteAnswer, RouteRequest, Routes, Step } from '@postroad/contract'

export type WholeWorkflow = RouteAnswer<Routes['workflows']['get']>['workflow']
export type DefinitionBody = RouteRequest<Routes['workflows']['create']>

/** The members that a replacement sends: all of them, because the server gives a missing member its default. */
export type Definition = {
  readonly name: string
  readonly slug: string
  readonly active: boolean
  readonly entry_dataset: string
  readonly entry_conditions: readonly Condition[]
  readonly steps: readonly Step[]
}

export function definitionOf({ name, slug, active, entry_dataset, entry_conditions, steps }: Definition): Definition {
  return { name, slug, active, entry_dataset, entry_conditions, steps }
}

/** A definition as the body of a request. */
export function bodyOf(definition: Definition): DefinitionBody {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a stored definition can be sent; only the lists are read-only here
  return definitionOf(definition) as DefinitionBody
}

/** Whether two values are the same JSON, in any order of their members. */
export function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a, sorted) === JSON.stringify(b, sorted)
}

// oxlint-disable-next-line max-params -- as JSON.stringify calls it
function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
