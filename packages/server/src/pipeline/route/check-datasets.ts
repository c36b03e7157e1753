import { LIMITS, SYSTEM_DATASET } from '@postroad/contract'
import { datasetLimitReached, isOwnEvent, reject, reservedDataset, type Rejected, type Routed } from '../types.ts'

/**
 * An event is filed as a whole or refused as a whole. No record is left out silently because its key may not write to
 * the dataset, or because a new dataset would exceed the limit. A project is full here only if its plan shows that. The
 * commit decides which new dataset is the last one.
 */
export function checkDatasets(event: Routed): Rejected | undefined {
  if (isOwnEvent(event.verified.receiver)) return undefined
  return checkReserved(event) ?? checkLimit(event) ?? checkAllowed(event)
}

/** A rule, an endpoint or a key can be older than the reserved name. */
function checkReserved({ records }: Routed): Rejected | undefined {
  return records.some(({ dataset }) => dataset === SYSTEM_DATASET) ? reservedDataset(SYSTEM_DATASET) : undefined
}

function checkLimit({ records, verified: { receiver } }: Routed): Rejected | undefined {
  const known = receiver.plan.datasets
  if (known.size < LIMITS.datasetsPerProjectMax) return undefined
  const unknown = records.find(({ dataset }) => !known.has(dataset))
  return unknown === undefined ? undefined : datasetLimitReached(unknown.dataset)
}

function checkAllowed({ records, verified: { receiver } }: Routed): Rejected | undefined {
  const allowed = receiver.ingestKey?.datasets ?? null
  if (allowed === null) return undefined
  const stray = records.find(({ dataset }) => !allowed.has(dataset))
  if (stray === undefined) return undefined
  return reject('dataset_not_allowed', {
    text: `A rule files this event into "${stray.dataset}", but this ingest key cannot write there, so nothing was stored. Add the dataset to the key, or use another key.`,
  })
}
