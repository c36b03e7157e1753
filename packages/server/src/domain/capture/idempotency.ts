import { createHash } from 'node:crypto'
import type { Idempotency, Split } from '@postroad/contract'
import { compilePath, readPath, type Path } from '../routing/dot-path.ts'
import { compilePlace, textOf, type CompiledPlace, type Placed } from './place.ts'
import { compileSplit } from './split.ts'

/** The compiled setting for the event key that an endpoint takes from its requests. */
export type CompiledIdempotency = Pick<CompiledPlace, 'path'> & {
  /** Identifies the setting, so that a different setting finds none of its keys. */
  readonly source: string
  /** undefined: the request has no key. */
  readonly keyOf: (of: Placed) => string | undefined
}

/** The settings that give each item of an event a key. */
export type ItemKeys = { readonly split: Split; readonly path: string }

type Settings = { readonly idempotency: Idempotency; readonly split: Split }

/** undefined when the endpoint has no such setting. */
export function compileIdempotency({ idempotency, split }: Settings): CompiledIdempotency | undefined {
  if (idempotency === null) return undefined
  const { source, path, textOf: keyOf } = compilePlace(idempotency)
  const itemsOf = compileSplit(split)
  if (path === undefined || itemsOf === undefined) return { source, path, keyOf }
  return {
    source,
    path,
    keyOf: (of) => {
      const items = itemsOf(of.payload)
      return items === undefined ? keyOf(of) : keyOfItems(items, path)
    },
  }
}

/** undefined: an event makes one record, or its key is not in the payload. */
export const itemKeysOf = ({ idempotency, split }: Settings): ItemKeys | undefined =>
  split === null || idempotency === null || 'header' in idempotency ? undefined : { split, path: idempotency.path }

export function keyOfItemsIn(payload: unknown, { split, path }: ItemKeys): string | undefined {
  const items = compileSplit(split)?.(payload)
  return items && keyOfItems(items, compilePath(path))
}

/** The keys of the items, each with the index of its item; undefined: no item has one. */
function keyOfItems(items: readonly unknown[], path: Path): string | undefined {
  const keys = items.flatMap((item, index) => {
    const key = textOf(readPath(item, path))
    return key === undefined ? [] : [`${index} ${key}`]
  })
  return keys.length === 0 ? undefined : digestOf(keys)
}

/** SHA-256 in hex over unambiguously separated parts. */
export function digestOf(parts: readonly (string | null)[], body?: Uint8Array): string {
  const hash = createHash('sha256').update(JSON.stringify(parts))
  return (body === undefined ? hash : hash.update(body)).digest('hex')
}
