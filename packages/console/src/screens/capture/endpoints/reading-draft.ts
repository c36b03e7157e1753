import type { BodyAs, Split } from '@postroad/contract'

export type ReadingDraft = {
  readonly bodyAs: BodyAs
  readonly items: 'none' | 'list' | 'lines'
  /** The path to the list; empty: the whole payload. */
  readonly path: string
}

export function readingDraftOf({ body_as, split }: { readonly body_as: BodyAs; readonly split: Split }): ReadingDraft {
  if (split === null || split === 'lines') return { bodyAs: body_as, items: split ?? 'none', path: '' }
  return { bodyAs: body_as, items: 'list', path: split.path }
}

export function readingOf({ bodyAs, items, path }: ReadingDraft): { readonly body_as: BodyAs; readonly split: Split } {
  const split = items === 'none' ? null : items === 'lines' ? items : { path: path.trim() }
  return { body_as: bodyAs, split }
}
