import type { Conditions } from '@postroad/contract'
import { parseStoredJson, stringifyJson } from '../../json/json-text.ts'

/** The settings of a project that the reasons of a decision follow from, and nothing else of them. */
export type DecisionPlan = {
  readonly rules: readonly Choosing[]
  readonly destinations: readonly DecidingDestination[]
  readonly workflows: readonly Choosing[]
  readonly triggers: readonly Choosing[]
}

type Named = { readonly id: string; readonly name: string; readonly conditions: Conditions }
/** A rule with the dataset of its records; a workflow or an AI trigger with the dataset on whose records it starts. */
export type Choosing = Named & { readonly dataset: string }
export type DecidingDestination = Named & {
  readonly enabled: boolean
  /** null: every dataset. */
  readonly datasets: readonly string[] | null
  /** The customer who owns it; null: the project does. */
  readonly customer_id: string | null
}

export const PLAN_KINDS = ['rules', 'destinations', 'workflows', 'triggers'] as const
export type PlanKind = (typeof PLAN_KINDS)[number]

/** A plan names its parts. A part is a share of the rows of one kind, so that a change makes one new part, not a new plan of all. */
export type PlanParts = Readonly<Record<PlanKind, readonly string[]>>

export const PLAN_PART_ROWS = 64

/** A part has about 64 rows, and at most 256 parts are of one kind: the end of its id says which part a row belongs to. */
const digitsOf = (rows: number): number => (rows <= PLAN_PART_ROWS ? 0 : rows <= 16 * PLAN_PART_ROWS ? 1 : 2)

/** Rows in their parts. */
export function sharesOf<Row extends { readonly id: string }>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const digits = digitsOf(rows.length)
  const shares = Map.groupBy(rows, ({ id }) => id.slice(id.length - digits))
  return [...shares.values()]
}

export const writeDestinations = (rows: readonly DecidingDestination[]): string =>
  stringifyJson(
    rows.map(({ id, name, enabled, datasets, conditions, customer_id }) => ({
      id,
      name,
      enabled,
      datasets,
      conditions,
      customer_id,
    })),
  )

export const writeChoosing = (rows: readonly Choosing[]): string =>
  stringifyJson(rows.map(({ id, name, dataset, conditions }) => ({ id, name, dataset, conditions })))

type Contents = Readonly<Record<PlanKind, readonly string[]>>

/** The plan whose parts have these contents. */
export const readPlan = (contents: Contents): DecisionPlan => ({
  rules: sorted(contents.rules.flatMap(readChoosing)),
  destinations: sorted(contents.destinations.flatMap(readDestinations)),
  workflows: sorted(contents.workflows.flatMap(readChoosing)),
  triggers: sorted(contents.triggers.flatMap(readChoosing)),
})

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `writeChoosing` wrote it
const readChoosing = (text: string) => valueOf(text) as readonly Choosing[]
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `writeDestinations` wrote it
const readDestinations = (text: string) => valueOf(text) as readonly DecidingDestination[]

function valueOf(text: string): unknown {
  const parsed = parseStoredJson(text)
  if (!parsed.ok) throw new Error(`A part of a plan is not JSON: ${parsed.error}`)
  return parsed.value
}

/** The order in which rules, destinations and starters are considered. */
const sorted = <Row extends Named>(rows: readonly Row[]): readonly Row[] =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
