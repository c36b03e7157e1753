import { useMemo } from 'react'
import { useAllDestinations, useAllWebhooks, type Destination, type Webhook } from './lists.ts'

const NONE: readonly never[] = []

/** The destinations of the project, and their names by id. A deleted destination has its id as its name. */
export function useDestinations(): {
  readonly all: readonly Destination[]
  readonly nameOf: (id: string) => string
  /** The list has been read. Until then, nobody knows whether it is empty. */
  readonly isKnown: boolean
} {
  const { data } = useAllDestinations()
  return useMemo(() => ({ all: data ?? NONE, nameOf: namesIn(data ?? NONE), isKnown: data !== undefined }), [data])
}

/** The same for the endpoints of the project. */
export function useWebhooks(): {
  readonly all: readonly Webhook[]
  readonly nameOf: (id: string) => string
} {
  const { data = NONE } = useAllWebhooks()
  return useMemo(() => ({ all: data, nameOf: namesIn(data) }), [data])
}

function namesIn(items: readonly { readonly id: string; readonly name: string }[]): (id: string) => string {
  const names = new Map(items.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? id
}
