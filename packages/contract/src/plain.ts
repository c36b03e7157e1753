/** The part of the contract without schemas, for the threads of heavy work: each of them would load all schemas again. */
export { compareDecimals, plainDecimalText } from './decimal.ts'
export {
  LIST_STEP,
  payloadSteps,
  queryMembers,
  REQUEST_ROOT,
  requestProblem,
  requestSteps,
  splitPath,
} from './dot-path.ts'
export { encodeId, SECRET_PREFIXES } from './id-text.ts'
export { LIMITS } from './limits.ts'
export { REASONS } from './reasons.ts'
export { SYSTEM_DATASET, SYSTEM_DATASET_RULE } from './system-dataset.ts'
