export { createIndexer } from './build.ts'
export { findCandidates } from './find.ts'
export { findIndexedTo } from './queries.ts'
