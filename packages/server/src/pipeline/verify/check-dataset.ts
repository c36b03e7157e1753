import { DATASET_NAME, LIMITS } from '@postroad/contract'
import { datasetLimitReached, reject } from '../types.ts'
import type { Check } from './passage.ts'

/** The first event for a dataset creates it, so its name is checked on use. */
export const checkDataset: Check = (_deps, { receiver: { plan, dataset } }) => {
  if (dataset === undefined) return undefined
  if (!DATASET_NAME.test(dataset)) return reject('invalid_dataset')
  const full = plan.datasets.size >= LIMITS.datasetsPerProjectMax && !plan.datasets.has(dataset)
  return full ? datasetLimitReached(dataset) : undefined
}
