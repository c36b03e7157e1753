import type { CodeUnits } from './code-units.ts'

/** A place between two characters that a pattern can require, besides both ends of the text. */
export type Spot = 'line start' | 'line end' | 'word boundary' | 'no word boundary'

export type Text = {
  readonly kind: 'text'
  readonly text: string
  readonly firstUnit: number
  readonly width: number
  readonly again: boolean
}

/** A test of one position alone. `again`: one match tests it more than once, so its places are worth storing. */
export type Leaf =
  | Text
  | { readonly kind: 'unit'; readonly units: CodeUnits; readonly width: 1; readonly again: boolean }
  | { readonly kind: 'spot'; readonly spot: Spot; readonly width: 0; readonly again: boolean }

export type Look = {
  readonly kind: 'look'
  readonly body: Program
  readonly ahead: boolean
  readonly negate: boolean
}

/** A repetition of one code unit of a set. */
export type Run = { readonly kind: 'run'; readonly units: CodeUnits; readonly min: number; readonly max: number }

export type Repeat = { readonly kind: 'repeat'; readonly body: Program; readonly min: number; readonly max: number }

/** A pattern in the form that the matcher runs. */
export type Program =
  | Leaf
  | Look
  | Run
  | Repeat
  | { readonly kind: 'edge'; readonly edge: 'start' | 'end' }
  | { readonly kind: 'sequence'; readonly parts: readonly Program[] }
  | { readonly kind: 'choice'; readonly branches: readonly Program[] }

/** Matches the empty text everywhere. */
export const NOTHING: Program = { kind: 'sequence', parts: [] }
