import { DATASET_NAME, LIMITS } from '@postroad/contract'
import { datasetLimitReached, isOwnEvent, reject, reservedDataset } from '../types.ts'
import type { Check } from './passage.ts'

/** The first event for a dataset creates it, so its name is checked on use. */
export const checkDataset: Check = (_deps, { receiver }) => {
  const { plan, dataset } = receiver
  if (dataset === undefined || isOwnEvent(receiver)) return undefined
  if (!DATASET_NAME.test(dataset)) return reject('invalid_dataset')
  const reserved = reservedDataset(dataset)
  if (reserved !== undefined) return reserved
  const full = plan.datasets.size >= LIMITS.datasetsPerProjectMax && !plan.datasets.has(dataset)
  return full ? datasetLimitReached(dataset) : undefined
}
