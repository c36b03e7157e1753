import { blockOf, type Bits, type Terms } from '../domain/capture/search-index/block.ts'
import { TermReader } from '../domain/capture/search-index/terms.ts'
import { task } from '../platform/heavy/task.ts'
import { headersOf } from './search.ts'

/** A payload and the headers of its request, both as JSON, and its query string; undefined: it is too large to be indexed. */
export type Indexed = { readonly payload: string; readonly headers: string; readonly query: string | null } | undefined

/** The terms of documents. */
export const readTerms = task('search.terms', (documents: readonly Indexed[]): readonly Terms[] =>
  documents.map((one) => one && reader.read({ ...one, headers: headersOf(one.headers) })),
)

const reader = new TermReader()

/** The block of documents with these terms. */
export const buildBlock = task('search.block', (documents: readonly Terms[]): Bits => blockOf(documents))
