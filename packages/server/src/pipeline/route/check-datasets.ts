import { reject, type Rejected, type Routed } from '../types.ts'

/** A key that is limited to datasets files all of an event or nothing of it: no record is left out unseen. */
export function checkDatasets({ records, verified: { receiver } }: Routed): Rejected | undefined {
  const allowed = receiver.ingestKey?.datasets ?? null
  if (allowed === null) return undefined
  const stray = records.find(({ dataset }) => !allowed.has(dataset))
  if (stray === undefined) return undefined
  return reject('dataset_not_allowed', {
    text: `A rule files this event into "${stray.dataset}", where this ingest key may not write; nothing was stored. Add the dataset to the key, or use another key.`,
  })
}
