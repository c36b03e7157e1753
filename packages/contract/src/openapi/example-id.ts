import { encodeId, type IdKind } from '../ids.ts'

export const exampleId = (kind: IdKind): string => encodeId(kind, '019ab4c0-2f00-7a1b-8c2d-3e4f5a6b7c8d')

export const EXAMPLE_TIME = '2026-11-21T09:57:11.263Z'

/** The payload of events in examples. */
export const EXAMPLE_PAYLOAD = { type: 'order.created', total: 42.5, customer: { id: 'c_1' } }
